import { ConfigError } from "./errors.js";
import type { Settings } from "./schema.js";

const ENCODED =
  "write user and password percent-encoded where they have other characters than letters and digits (@ is %40, / is %2F, # is %23, % is %25)";

/** A user without a host, as psql writes it for sockets, is no URL. */
const withHost = (text: string): string => (URL.canParse(text) ? text : text.replace("@/", "@socket/"));

/** Null for what cannot be read. */
export const readDatabaseUrl = (text: string): URL | null => (URL.canParse(withHost(text)) ? new URL(withHost(text)) : null);

const isDecodable = (text: string): boolean => {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
};

/** @throws ConfigError for an address that cannot be read; it may hold a password, so nothing of it is repeated */
export const checkDatabaseUrl = ({ database_url }: Pick<Settings, "database_url">): void => {
  if (database_url === null) return;
  const url = readDatabaseUrl(database_url);
  // What follows an @, / or # of a password that is not encoded lands in the path or the fragment.
  const isTorn = url === null || url.hash !== "" || /[@/]/.test(url.pathname.slice(1));
  if (isTorn) throw new ConfigError([`database_url cannot be read as an address: ${ENCODED}`]);
  const { username, password, hostname, pathname } = url;
  if (![username, password, hostname, pathname].every(isDecodable))
    throw new ConfigError([`database_url holds a % that encodes nothing: ${ENCODED}`]);
  if ((hostname === "" || !URL.canParse(database_url)) && url.searchParams.get("host") === null)
    throw new ConfigError([
      "database_url names no host: write postgres://user@host/name, or postgres:///name?host=FOLDER for a Unix socket",
    ]);
  if (pathname.length < 2) throw new ConfigError(["database_url names no database: it ends in /name"]);
};

import { ConfigError } from "./errors.js";
import type { Settings } from "./schema.js";

const ENCODED =
  "write user and password percent-encoded where they have other characters than letters and digits (@ is %40, / is %2F, # is %23, % is %25)";

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
  const url = URL.canParse(database_url) ? new URL(database_url) : null;
  if (url === null) throw new ConfigError([`database_url cannot be read as an address: ${ENCODED}`]);
  const { username, password, hostname, pathname } = url;
  if (![username, password, hostname, pathname].every(isDecodable))
    throw new ConfigError([`database_url holds a % that encodes nothing: ${ENCODED}`]);
  if (hostname === "" && url.searchParams.get("host") === null)
    throw new ConfigError([
      "database_url names no host: write postgres://user@host/name, or postgres:///name?host=FOLDER for a Unix socket",
    ]);
  if (pathname.length < 2) throw new ConfigError(["database_url names no database: it ends in /name"]);
};

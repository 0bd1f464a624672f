import type { ClientConfig } from "pg";
import { readDatabaseUrl } from "../../config/database.js";

/** A server that does not answer costs a request this much. */
const CONNECT_MS = 5_000;
/** No statement of the registry takes so long: whoever waits longer waits for a network that is gone. */
const QUERY_MS = 30_000;

/** How pg connects to a `database_url`: hosts, sockets, passwords and sslmode are read by pg-connection-string, as psql names them. */
export const clientConfig = (url: string): ClientConfig => ({
  connectionString: url,
  application_name: "imprint",
  connectionTimeoutMillis: CONNECT_MS,
  query_timeout: QUERY_MS,
  keepAlive: true,
});

/** Which database that is, without its password. */
export const describeAddress = (url: string): string => {
  const address = readDatabaseUrl(url);
  if (address === null) return "that cannot be read";
  const { username, host, pathname, searchParams } = address;
  const place = searchParams.get("host") ?? host;
  return `${username === "" ? "" : `${decodeURIComponent(username)}@`}${decodeURIComponent(place)}${decodeURIComponent(pathname)}`;
};

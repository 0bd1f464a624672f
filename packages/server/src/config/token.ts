import { isIP } from "node:net";
import { ConfigError } from "../common/error.js";
import type { Settings } from "./schema.js";

export const isLoopback = (host: string): boolean =>
  host === "localhost" || host === "::1" || host === "[::1]" || (isIP(host) === 4 && host.startsWith("127."));

/** @throws ConfigError when a wide bind has no token */
export const resolveToken = ({ token, host }: Settings): string | null => {
  if (token === null && !isLoopback(host))
    throw new ConfigError([`host ${host} is reachable from other machines: set a token (IMPRINT_TOKEN), or listen on 127.0.0.1`]);
  return token;
};

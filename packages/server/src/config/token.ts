import { isIP } from "node:net";
import { ConfigError } from "./errors.js";
import type { Settings } from "./schema.js";
import { readSecretFile } from "./secret-file.js";

export const isLoopback = (host: string): boolean =>
  host === "localhost" || host === "::1" || host === "[::1]" || (isIP(host) === 4 && host.startsWith("127."));

/**
 * The token from the setting or its file.
 * @throws ConfigError when the file is unreadable or readable by others, or when a wide bind has no token
 */
export const resolveToken = (settings: Settings): string | null => {
  const token = settings.token_file === null ? settings.token : readTokenFile(settings.token_file);
  if (settings.token !== null && settings.token_file !== null) throw new ConfigError(["token and token_file exclude each other"]);
  if (token === null && !isLoopback(settings.host))
    throw new ConfigError([
      `host ${settings.host} is reachable from other machines: set token_file (or token), or listen on 127.0.0.1`,
    ]);
  return token;
};

const readTokenFile = (path: string): string => {
  const token = readSecretFile("token_file", path);
  if (!/^[A-Za-z0-9._~+/=-]{22,512}$/.test(token))
    throw new ConfigError(["token_file must hold one token of 22 or more characters"]);
  return token;
};

import { readFileSync, statSync } from "node:fs";
import { isIP } from "node:net";
import { ConfigError } from "../common/error.js";
import type { Settings } from "./schema.js";

/** What neither others nor the file's group may do with a secret. Its group may read it: so Kubernetes mounts secrets. */
const FORBIDDEN = 0o027;

/**
 * The secret in a file, without the space around it.
 * @throws ConfigError when the file is unreadable, or readable by everyone
 */
export const readSecretFile = (setting: string, path: string): string => {
  try {
    if (process.platform !== "win32" && (statSync(path).mode & FORBIDDEN) !== 0)
      throw new ConfigError([
        `${setting} can be read or changed by other users: chmod 600 it, or give its volume in Kubernetes defaultMode 0400`,
      ]);
    return readFileSync(path, "utf8").trim();
  } catch (error) {
    if (error instanceof ConfigError) throw error;
    throw new ConfigError([`${setting} cannot be read`]);
  }
};

const isLoopback = (host: string): boolean =>
  host === "localhost" || host === "::1" || host === "[::1]" || (isIP(host) === 4 && host.startsWith("127."));

/** @throws ConfigError when a wide bind has no token */
export const resolveToken = ({ token, host }: Settings): string | null => {
  if (token === null && !isLoopback(host))
    throw new ConfigError([`host ${host} is reachable from other machines: set a token (IMPRINT_TOKEN), or listen on 127.0.0.1`]);
  return token;
};

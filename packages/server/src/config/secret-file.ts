import { readFileSync, statSync } from "node:fs";
import { ConfigError } from "../common/error.js";

/**
 * The secret in a file, without the space around it.
 * @throws ConfigError when the file is unreadable or readable by others
 */
export const readSecretFile = (setting: string, path: string): string => {
  try {
    if (process.platform !== "win32" && (statSync(path).mode & 0o077) !== 0)
      throw new ConfigError([`${setting} can be read by other users: chmod 600 it`]);
    return readFileSync(path, "utf8").trim();
  } catch (error) {
    if (error instanceof ConfigError) throw error;
    throw new ConfigError([`${setting} cannot be read`]);
  }
};

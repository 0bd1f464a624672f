import { join } from "node:path";
import Libsql from "libsql";
import { CannotStartError, codeOf } from "../common/error.js";
import { unusableDataDirectory } from "./paths.js";

/** Another process works on this data directory: a service, or a command that runs its own. */
export class DataDirectoryInUseError extends CannotStartError {
  override readonly name = "DataDirectoryInUseError";

  constructor(options?: ErrorOptions) {
    super("another imprint process works on this data directory: let it end, stop it, or choose another --data-dir", options);
  }
}

/**
 * Takes the data directory for this process: two services would remove each other's staging folders. The lock is SQLite's lock on an
 * empty file, so the operating system lets go of it when the process dies, however it dies.
 * @throws DataDirectoryInUseError, or ConfigError when the file cannot be written
 */
export const lockDataDirectory = (root: string): (() => void) => {
  let file: InstanceType<typeof Libsql> | undefined;
  try {
    file = new Libsql(join(root, "service.lock"));
    file.exec("pragma busy_timeout = 0");
    file.exec("begin exclusive");
  } catch (cause) {
    file?.close();
    if (codeOf(cause) === "SQLITE_BUSY") throw new DataDirectoryInUseError({ cause });
    throw unusableDataDirectory(root, cause);
  }
  return () => file?.close();
};

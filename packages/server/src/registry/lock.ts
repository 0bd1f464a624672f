import { join } from "node:path";
import Libsql from "libsql";

/** Another process serves from this data directory. */
export class DataDirectoryInUseError extends Error {
  override readonly name = "DataDirectoryInUseError";

  constructor(options?: ErrorOptions) {
    super("another Imprint service uses this data directory: stop it, or choose another --data-dir", options);
  }
}

/**
 * Takes the data directory for this process; two services would sweep each other's staging folders. The lock is SQLite's lock on an
 * empty file, so the operating system lets go of it when the process dies, however it dies.
 * @throws DataDirectoryInUseError
 */
export const lockDataDirectory = (root: string): (() => void) => {
  const file = new Libsql(join(root, "service.lock"));
  try {
    file.exec("pragma busy_timeout = 0");
    file.exec("begin exclusive");
  } catch (cause) {
    file.close();
    throw new DataDirectoryInUseError({ cause });
  }
  return () => file.close();
};

import { constants, copyFileSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import Libsql from "libsql";

/** Another program's database as it was when it was copied. */
export interface CopiedDatabase {
  rows(sql: string, ...parameters: readonly unknown[]): IterableIterator<unknown>;
  close(): void;
}

const TRIES = 5;

/** What the files of a database are: other sizes or times are other content. */
const stampOf = (paths: readonly string[]): string =>
  paths
    .map((path) => statSync(path, { throwIfNoEntry: false }))
    .map((about) => (about === undefined ? "none" : `${about.size} ${about.mtimeMs}`))
    .join(", ");

/**
 * Opens a copy of a database with what its program has written but not yet moved into it: SQLite writes into the files that it opens, also
 * to read them, and their program may be running. Throws where it is no database, and where it never stands still.
 */
export const openCopy = (path: string): CopiedDatabase => {
  const folder = mkdtempSync(join(tmpdir(), "imprint-database-"));
  const remove = (): void => rmSync(folder, { recursive: true, force: true });
  const copy = join(folder, basename(path));
  try {
    const parts = [path, `${path}-wal`];
    let before = "";
    for (let tried = 0; before !== stampOf(parts); tried += 1) {
      if (tried === TRIES) throw new Error("it is written to all the time: close its program, and try again");
      before = stampOf(parts);
      rmSync(`${copy}-wal`, { force: true });
      for (const part of parts)
        if (statSync(part, { throwIfNoEntry: false }))
          copyFileSync(part, join(folder, basename(part)), constants.COPYFILE_FICLONE);
    }
    const file = new Libsql(copy);
    file.prepare("select 1 from sqlite_schema").all(); // opens its journal too
    const close = (): void => {
      file.close();
      remove();
    };
    // What is open is read on: nothing stays of a process that is killed. Windows removes no open file.
    if (process.platform === "win32") process.once("exit", close);
    else remove();
    return { rows: (sql, ...parameters) => file.prepare(sql).iterate([...parameters]) as IterableIterator<unknown>, close };
  } catch (error) {
    remove();
    throw error;
  }
};

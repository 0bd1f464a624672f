import { randomUUID } from "node:crypto";
import { constants, type Stats } from "node:fs";
import { cp, type FileHandle, link, open, readFile, rename, rm, unlink, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { matches } from "@imprint/contracts/fields";
import type { Static, TSchema } from "typebox";
import { codeOf, nullIfMissing } from "../common/error.js";

/** Forces a file's or folder's content to the disk. Windows cannot open folders, and needs no such call for them. */
export const syncPath = async (path: string, { folder = false }: { readonly folder?: boolean } = {}): Promise<void> => {
  if (folder && process.platform === "win32") return;
  const handle = await open(path, folder ? "r" : "r+");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
};

/** Writes a new file, and returns when it is on the disk. */
export const writeSynced = async (path: string, content: string | Uint8Array | Iterable<string>): Promise<void> => {
  const handle = await open(path, "wx", 0o600);
  try {
    await writeFile(handle, content);
    await handle.sync();
  } finally {
    await handle.close();
  }
};

/** What a JSON file says, by its schema; null when it is not there, or says something else. */
export const readRecord = async <T extends TSchema>(schema: T, path: string): Promise<Static<T> | null> => {
  const value: unknown = await readFile(path, "utf8")
    .then(JSON.parse)
    .catch((error) => (error instanceof SyntaxError ? null : nullIfMissing(error)));
  return matches(schema, value) ? value : null;
};

/** Replaces a file so that a reader, or a crash, sees the old content or the new one, never a part. */
export const writeAtomically = async (path: string, content: string | Uint8Array): Promise<void> => {
  const temporary = join(dirname(path), `.${basename(path)}.${randomUUID()}.tmp`);
  try {
    await writeSynced(temporary, content);
    await rename(temporary, path);
    await syncPath(dirname(path), { folder: true });
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
};

/** Gives what stands at a path a second name; a copy where the file system, or its owner, allows no second name. False where nothing stands. */
const keepAs = async (path: string, kept: string): Promise<boolean> => {
  try {
    await link(path, kept).catch((error: unknown) => {
      if (["ENOENT", "EEXIST"].includes(codeOf(error) ?? "")) throw error;
      return cp(path, kept, { errorOnExist: true, force: false, preserveTimestamps: true, verbatimSymlinks: true });
    });
    return true;
  } catch (error) {
    if (codeOf(error) === "ENOENT") return false;
    throw error;
  }
};

/** Renames a file into its place. The answer undoes it: what stood there before stands there again, on the disk too. */
export const putInPlace = async (path: string, place: string): Promise<() => Promise<void>> => {
  const before = `${path}.before`;
  const stood = await keepAs(place, before);
  await rename(path, place);
  return async () => {
    await (stood ? rename(before, place) : unlink(place));
    await syncPath(dirname(place), { folder: true });
  };
};

/** Neither a link, which may lead anywhere, nor a pipe, which would be waited for. Windows has neither flag. */
const FLAGS = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);

/** Opens what a path itself names, without following or waiting. The handle is the caller's to close. */
export const openUnfollowed = async (path: string): Promise<{ readonly handle: FileHandle; readonly stats: Stats }> => {
  const handle = await open(path, FLAGS);
  try {
    return { handle, stats: await handle.stat() };
  } catch (error) {
    await handle.close();
    throw error;
  }
};

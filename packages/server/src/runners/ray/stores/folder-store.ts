import { randomUUID } from "node:crypto";
import { constants, createReadStream, existsSync } from "node:fs";
import { cp, lstat, mkdir, open, readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { writeAtomically } from "../../../storage/durable.js";
import { createFolderTail } from "./folder-tail.js";
import { isSource } from "./sources.js";
import type { Store } from "./store.js";

const isMissing = (error: unknown): boolean => error instanceof Error && "code" in error && error.code === "ENOENT";

const orMissing = async <T, M>(asked: Promise<T>, missing: M): Promise<T | M> => {
  try {
    return await asked;
  } catch (error) {
    if (isMissing(error)) return missing;
    throw error;
  }
};

/** A folder that the nodes of the cluster see under the same path. */
export const createFolderStore = (root: string): Store => {
  const at = (name: string): string => join(root, name);
  return {
    onNodes: root,
    carried: null,
    makeFolder: async (name) => void (await mkdir(at(name), { recursive: true, mode: 0o700 })),
    put: (name, content) => writeAtomically(at(name), content),
    hint: (name, content) => writeFile(at(name), content, { mode: 0o600 }),
    async putTree(from, name) {
      if (existsSync(from)) await cp(from, at(name), { recursive: true, dereference: true, force: true });
    },
    async putOnce(from, name) {
      const to = at(name);
      if (existsSync(to)) return;
      await mkdir(dirname(to), { recursive: true, mode: 0o700 });
      const part = join(dirname(to), `.${randomUUID()}`);
      try {
        await cp(from, part, { recursive: true, dereference: true, filter: isSource });
        await rename(part, to);
      } catch (error) {
        await rm(part, { recursive: true, force: true });
        if (!existsSync(to)) throw error; // else another job was faster
      }
    },
    read: (name) => orMissing(readFile(at(name), "utf8"), null),
    async open(name) {
      const found = await lstat(at(name)).catch(() => null);
      if (!found?.isFile()) return null;
      const file = await open(at(name), constants.O_RDONLY | constants.O_NOFOLLOW);
      return createReadStream("", { fd: file });
    },
    tail: (name, onData) => createFolderTail(at(name), onData),
    list: (name) => orMissing<readonly string[], readonly string[]>(readdir(at(name)), []),
    modified: async (name) => (await orMissing(stat(at(name)), null))?.mtimeMs ?? null,
    remove: (name) => rm(at(name), { recursive: true, force: true }),
  };
};

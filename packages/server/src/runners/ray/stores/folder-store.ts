import { createHash, randomUUID } from "node:crypto";
import { constants, createReadStream, existsSync } from "node:fs";
import { cp, type FileHandle, lstat, mkdir, open, readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { writeAtomically } from "../../../storage/durable.js";
import { isSource, type Store, type Tail } from "./store.js";

const CHUNK_BYTES = 1024 * 1024;

/** Opened anew each time: NFS shows what others wrote to whoever opens a file. */
const createFolderTail = (openFile: () => Promise<FileHandle | null>, onData: (chunk: Buffer) => void): Tail => {
  const hash = createHash("sha256");
  let offset = 0;
  let begun = false;
  return {
    async read(upTo = Number.MAX_SAFE_INTEGER) {
      const from = offset;
      const file = await openFile();
      if (file === null) return false;
      begun = true;
      try {
        while (offset < upTo) {
          const buffer = Buffer.allocUnsafe(Math.min(CHUNK_BYTES, upTo - offset));
          const { bytesRead } = await file.read(buffer, 0, buffer.length, offset);
          if (bytesRead === 0) break;
          const chunk = buffer.subarray(0, bytesRead);
          offset += bytesRead;
          hash.update(chunk);
          onData(chunk);
        }
      } finally {
        await file.close();
      }
      return offset > from;
    },
    bytes: () => offset,
    sha256: () => hash.copy().digest("hex"),
    begun: () => begun,
  };
};

/** A folder that the nodes of the cluster see under the same path. */
export const createFolderStore = (root: string): Store => {
  const at = (name: string): string => join(root, name);

  /** What is not there is missing only where the root is: else the folder is not mounted, and nothing is known. */
  const orMissing = async <T, M>(asked: Promise<T>, missing: M): Promise<T | M> => {
    try {
      return await asked;
    } catch (error) {
      if (error instanceof Error && "code" in error && error.code === "ENOENT" && existsSync(root)) return missing;
      throw error;
    }
  };

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
      const found = await orMissing(lstat(at(name)), null);
      if (!found?.isFile()) return null;
      const file = await open(at(name), constants.O_RDONLY | constants.O_NOFOLLOW);
      return createReadStream("", { fd: file });
    },
    tail: (name, onData) => createFolderTail(() => orMissing(open(at(name), "r"), null), onData),
    list: (name) => orMissing<readonly string[], readonly string[]>(readdir(at(name)), []),
    modified: async (name) => (await orMissing(stat(at(name)), null))?.mtimeMs ?? null,
    remove: (name) => rm(at(name), { recursive: true, force: true, maxRetries: 3 }), // whoever is stopped may write meanwhile
  };
};

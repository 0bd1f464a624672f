import { createHash } from "node:crypto";
import { readdir, stat } from "node:fs/promises";
import { join, relative } from "node:path";
import type { Readable } from "node:stream";

/**
 * Where the service and the nodes of a cluster leave files for each other. Names are those of files or folders below its root, with "/"
 * between their parts. What a method does not find it says by null or an empty answer; it rejects where the store does not answer or refuses.
 */
export interface Store {
  /** Under which path the nodes find the root, or their copy of what they need of it. */
  readonly onNodes: string;
  /** Null where the nodes see the files themselves; else what they need to fetch them, as variables. Nothing secret. */
  readonly carried: Readonly<Record<string, string>> | null;
  /** Makes a folder where the store has such. */
  makeFolder(name: string): Promise<void>;
  /** Puts a file, whole or not there, and returns when it is safe. */
  put(name: string, content: string): Promise<void>;
  /** Puts a small file that may get lost, into a folder that may be gone. */
  hint(name: string, content: string): Promise<void>;
  /** Puts what is there of a folder or file of this machine; links are followed. */
  putTree(from: string, name: string): Promise<void>;
  /** Puts a folder that many jobs read, whole or not there, under a name that says its content; nothing where it is there. */
  putOnce(from: string, name: string): Promise<void>;
  /** A small file's text. */
  read(name: string): Promise<string | null>;
  /** A regular file's content; links are not followed: they could lead out of the store. */
  open(name: string): Promise<Readable | null>;
  /** A file that a node appends to. */
  tail(name: string, onData: (chunk: Buffer) => void): Tail;
  /** The names of what is in a folder. */
  list(name: string): Promise<readonly string[]>;
  /** When a file was written, in milliseconds. */
  modified(name: string): Promise<number | null>;
  /** Removes a folder with all that is in it. */
  remove(name: string): Promise<void>;
}

/** A file of the shared storage that grows, read from where it was read to. */
export interface Tail {
  /** Passes on what is new; answers whether anything was. Rejects where the storage does not answer. */
  read(upTo?: number): Promise<boolean>;
  bytes(): number;
  sha256(): string;
  /** Whether the file is there at all. */
  begun(): boolean;
}
export const isSource = (path: string): boolean => !path.endsWith("__pycache__");

/** The files of a folder that are worth a copy, sorted; links are followed. */
export const filesOf = async (folder: string): Promise<readonly string[]> => {
  const found: string[] = [];
  for (const name of (await readdir(folder)).toSorted()) {
    const path = join(folder, name);
    const stats = await stat(path);
    if (stats.isFile() && !name.endsWith(".gguf"))
      found.push(path); // what chats on this machine are answered from
    else if (stats.isDirectory() && isSource(path)) found.push(...(await filesOf(path)));
  }
  return found;
};

/** A folder's content, as far as it can be told without reading it: what other files of the same size and time are, their inodes tell. */
export const printOf = async (folder: string): Promise<string> => {
  const hash = createHash("sha256");
  for (const file of await filesOf(folder)) {
    const { size, ino, mtimeMs, ctimeMs } = await stat(file);
    hash.update(`${relative(folder, file)}\0${size}\0${ino}\0${mtimeMs}\0${ctimeMs}\n`);
  }
  return hash.digest("hex").slice(0, 16);
};

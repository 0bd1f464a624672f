import type { Readable } from "node:stream";
import type { Tail } from "./tail.js";

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

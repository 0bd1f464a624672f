import { createHash } from "node:crypto";
import { lstat } from "node:fs/promises";
import { pipeline } from "node:stream/promises";
import { openUnfollowed } from "../../storage/durable.js";
import { InvalidAdapterError } from "./invalid.js";

/** What a file is known by: whoever writes to it, or puts another in its place, changes one of these. */
type Mark = `${number}:${number}:${number}:${number}`;

interface Hashed {
  readonly size: number;
  readonly sha256: string;
}

/** Files of about a thousand adapters. */
const REMEMBERED = 8192;
const known = new Map<string, Hashed & { readonly mark: Mark }>();

const remember = (path: string, hashed: Hashed & { readonly mark: Mark }): void => {
  known.delete(path);
  known.set(path, hashed);
  const [oldest] = known.keys();
  if (known.size > REMEMBERED && oldest !== undefined) known.delete(oldest);
};

/**
 * Size and SHA-256 of a regular file, hashed again when its size, times or inode changed since the last time, or when `again`.
 * @throws InvalidAdapterError for what is no regular file, or the error of the file system
 */
export const hashFile = async (path: string, { again = false }: { readonly again?: boolean } = {}): Promise<Hashed> => {
  if (!(await lstat(path)).isFile()) throw new InvalidAdapterError("one of its files is no regular file");
  const { handle: file, stats } = await openUnfollowed(path);
  try {
    const { size, ino, mtimeMs, ctimeMs } = stats;
    const mark: Mark = `${size}:${ino}:${mtimeMs}:${ctimeMs}`;
    const before = known.get(path);
    if (!again && before?.mark === mark) return before;
    const hash = createHash("sha256");
    await pipeline(file.createReadStream({ autoClose: false }), hash);
    const hashed = { size, sha256: hash.digest("hex"), mark };
    remember(path, hashed);
    return hashed;
  } finally {
    await file.close();
  }
};

import { createHash } from "node:crypto";
import { bytesOf, type SourceFile } from "./source-file.js";

export const baseName = (path: string): string => path.split(/[/\\]/).at(-1) ?? path;

/** Passes a file's bytes on, and knows their hash once all were read. */
export interface HashedBytes {
  readonly bytes: AsyncGenerator<Uint8Array>;
  digest(): string;
}

export function hashedBytes(file: SourceFile): HashedBytes {
  const hash = createHash("sha256");
  async function* read(): AsyncGenerator<Uint8Array> {
    for await (const chunk of bytesOf(file)) {
      hash.update(chunk);
      yield chunk;
    }
  }
  return { bytes: read(), digest: () => hash.digest("hex") };
}

/** One file's hash is that of its bytes; several files' is that of their names and hashes, in order. */
export function commonHash(files: readonly SourceFile[], hashes: readonly string[]): string {
  const [only] = hashes;
  if (hashes.length === 1 && only !== undefined) return only;
  const list = files.map(({ name }, index) => `${hashes[index]}  ${baseName(name)}\n`);
  return createHash("sha256").update(list.join("")).digest("hex");
}

/** The hash of all files, by reading them; null when a file can be read only once. */
export async function hashAhead(files: readonly SourceFile[]): Promise<string | null> {
  if (!files.every((file) => typeof file.bytes === "function" || file.bytes instanceof Uint8Array)) return null;
  const hashes: string[] = [];
  for (const file of files) {
    const { bytes, digest } = hashedBytes(file);
    for await (const _ of bytes);
    hashes.push(digest());
  }
  return commonHash(files, hashes);
}

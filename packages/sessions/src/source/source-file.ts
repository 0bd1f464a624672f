/** A file to import. `bytes` as a function can be read twice, which streaming needs (see `onSession`). */
export interface SourceFile {
  readonly name: string;
  readonly bytes: AsyncIterable<Uint8Array> | Uint8Array | (() => AsyncIterable<Uint8Array>);
}

/** Bytes in memory are handed on in pieces, so that their text is never decoded as a whole. */
const PIECE = 1024 * 1024;

export async function* bytesOf(file: SourceFile): AsyncGenerator<Uint8Array> {
  const { bytes } = file;
  if (bytes instanceof Uint8Array) for (let at = 0; at < bytes.length; at += PIECE) yield bytes.subarray(at, at + PIECE);
  else yield* typeof bytes === "function" ? bytes() : bytes;
}

/** A text to search, with its characters as bytes: reading an array is several times cheaper than `charCodeAt`. */
export interface Scan {
  readonly text: string;
  /** The low byte of each character from 0 to the text's length: exact for Latin-1, so what is found here is checked in `text`. */
  readonly bytes: Uint8Array;
}

const SHARED = 1024 * 1024;
let shared: Buffer | undefined;

/** The bytes stand until the next call. */
export function scanOf(text: string): Scan {
  if (text.length > SHARED) return { text, bytes: Buffer.from(text, "latin1") };
  shared ??= Buffer.allocUnsafe(SHARED);
  shared.write(text, "latin1");
  return { text, bytes: shared };
}

import { SessionUnreadable } from "../session-unreadable.js";
import type { Limits } from "./limits.js";

const NEWLINE = 0x0a;
const UTF16_LITTLE = [0xff, 0xfe];
const UTF16_BIG = [0xfe, 0xff];

/** UTF-16 files (written by some Windows shells) as UTF-8; all others as they are. */
export async function* toUtf8(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let decoder: InstanceType<typeof TextDecoder> | null | undefined;
  for await (const chunk of bytes) {
    if (chunk.length === 0) continue;
    if (decoder === undefined) {
      const mark = (magic: readonly number[]): boolean => chunk[0] === magic[0] && chunk[1] === magic[1];
      decoder = mark(UTF16_LITTLE) ? new TextDecoder("utf-16le") : mark(UTF16_BIG) ? new TextDecoder("utf-16be") : null;
    }
    yield decoder === null ? chunk : Buffer.from(decoder.decode(chunk, { stream: true }));
  }
}

/**
 * Lines of a UTF-8 text in batches, without their line ends; the last one may be torn. Only whole lines are decoded, so
 * that no character is cut by the border of two chunks.
 * @throws SessionUnreadable when a line or the whole file is longer than the limits allow.
 */
export async function* lineBatches(bytes: AsyncIterable<Uint8Array>, name: string, limits: Limits): AsyncGenerator<string[]> {
  let carried: Uint8Array[] = [];
  let carriedLength = 0;
  let total = 0;
  let lines = 0;
  const take = (tail: Buffer): string => {
    const text = (carried.length === 0 ? tail : Buffer.concat([...carried, tail])).toString("utf8");
    carried = [];
    carriedLength = 0;
    return text.startsWith("\ufeff") ? text.slice(1) : text;
  };
  for await (const chunk of toUtf8(bytes)) {
    total += chunk.length;
    if (total > limits.decoded)
      throw new SessionUnreadable(`${name} holds more than ${limits.decoded} bytes of text; split it into smaller files.`, {
        limit: "decoded",
      });
    const buffer = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length);
    const end = buffer.lastIndexOf(NEWLINE);
    if (end >= 0) {
      // Only the line that began in an earlier chunk is copied; the others are decoded where they are.
      const first = carried.length === 0 ? -1 : buffer.indexOf(NEWLINE);
      const begun = first < 0 ? [] : [take(buffer.subarray(0, first))];
      const batch = first === end ? begun : [...begun, ...take(buffer.subarray(first + 1, end)).split("\n")];
      lines += batch.length;
      yield batch;
    }
    const rest = buffer.subarray(end + 1);
    carriedLength += rest.length;
    if (carriedLength > limits.line)
      throw new SessionUnreadable(
        `Line ${lines + 1} of ${name} is longer than ${limits.line} bytes; no session record is that long. Remove the line, or split the file.`,
      );
    // A copy, because the owner of the chunk may write over it.
    if (rest.length > 0) carried.push(Uint8Array.from(rest));
  }
  if (carriedLength > 0) yield [take(Buffer.alloc(0))];
}

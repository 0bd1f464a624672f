import { createGunzip } from "node:zlib";
import { Decompress } from "fzstd";
import { SessionUnreadable } from "../session-unreadable.js";
import type { Limits } from "./limits.js";
import { peek } from "./peek.js";

const GZIP = [0x1f, 0x8b];
const ZSTD = [0x28, 0xb5, 0x2f, 0xfd];
const PARQUET = [0x50, 0x41, 0x52, 0x31];
/** Bytes that tell what a file is packed as. */
export const MAGIC_LENGTH = 4;
const startsWith = (bytes: Uint8Array, magic: readonly number[]): boolean => magic.every((byte, index) => bytes[index] === byte);

async function* gunzip(bytes: AsyncIterable<Uint8Array>, name: string): AsyncGenerator<Uint8Array> {
  const stream = createGunzip();
  const feed = async (): Promise<void> => {
    for await (const chunk of bytes) if (!stream.write(chunk)) await new Promise((resolve) => stream.once("drain", resolve));
    stream.end();
  };
  feed().catch((error: Error) => stream.destroy(error));
  try {
    for await (const chunk of stream) yield chunk as Uint8Array;
  } catch (error) {
    // A log that was still being written ends early: what could be read stands.
    if ((error as NodeJS.ErrnoException).code === "Z_BUF_ERROR") return;
    throw new SessionUnreadable(`${name} starts like gzip but cannot be decompressed: ${(error as Error).message}.`);
  } finally {
    stream.destroy();
  }
}

/** Bytes that are decompressed at once: a block of 128 KiB may have four. */
const PIECE = 256;
/** What a frame may have decoders remember: zstd's own limit, unless it is told otherwise. */
const WINDOW = 128 * 1024 * 1024;

async function* unzstd(bytes: AsyncIterable<Uint8Array>, name: string): AsyncGenerator<Uint8Array> {
  let ready: Uint8Array[] = [];
  const stream = new Decompress((chunk) => {
    // fzstd's state of the frame at hand, whose window it would move with every block.
    const { s: frame } = stream as unknown as { readonly s?: { readonly w?: Uint8Array } };
    if ((frame?.w?.length ?? 0) > WINDOW)
      throw new SessionUnreadable(
        `${name} needs a zstd window of more than 128 MiB: compress it without --long, or decompress it.`,
      );
    ready.push(chunk);
  });
  try {
    for await (const chunk of bytes) {
      for (let from = 0; from < chunk.length; from += PIECE) {
        stream.push(chunk.subarray(from, from + PIECE));
        yield* ready;
        ready = [];
      }
    }
  } catch (error) {
    if (error instanceof SessionUnreadable) throw error;
    throw new SessionUnreadable(`${name} starts like zstd but cannot be decompressed: ${(error as Error).message}.`);
  }
}

export const isParquet = (head: Uint8Array): boolean => startsWith(head, PARQUET);

/** Whether the bytes start like gzip, zstd or Parquet: a small file may then hold a large one. */
export const isCompressed = (head: Uint8Array): boolean => startsWith(head, GZIP) || startsWith(head, ZSTD) || isParquet(head);

/**
 * The bytes as they are, or decompressed where they start like gzip or zstd.
 * @throws SessionUnreadable when they cannot be decompressed, or hold more than the limits allow for their size
 */
export async function* decompress(bytes: AsyncIterable<Uint8Array>, name: string, limits: Limits): AsyncGenerator<Uint8Array> {
  const packed = sized(bytes);
  let unpacked = 0;
  for await (const chunk of unpack(packed.bytes, name)) {
    unpacked += chunk.length;
    if (unpacked > Math.max(limits.unpackedFreely, limits.ratio * packed.length()))
      throw new SessionUnreadable(
        `${name} holds more than ${limits.ratio} times the bytes that it has: decompress it yourself, and look at what it holds.`,
        { limit: "ratio" },
      );
    yield chunk;
  }
}

/** The same bytes, counted as they are read. */
function sized(bytes: AsyncIterable<Uint8Array>): { readonly bytes: AsyncIterable<Uint8Array>; length(): number } {
  let length = 0;
  const counted = async function* (): AsyncGenerator<Uint8Array> {
    for await (const chunk of bytes) {
      length += chunk.length;
      yield chunk;
    }
  };
  return { bytes: counted(), length: () => length };
}

async function* unpack(bytes: AsyncIterable<Uint8Array>, name: string): AsyncGenerator<Uint8Array> {
  const { head, bytes: all } = await peek(bytes, MAGIC_LENGTH);
  yield* startsWith(head, GZIP) ? gunzip(all, name) : startsWith(head, ZSTD) ? unzstd(all, name) : all;
}

import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { decompress as unzstd } from "fzstd";
import { type Compressors, type FileMetaData, parquetMetadata, parquetReadObjects, snappyUncompress } from "hyparquet";
import { SessionUnreadable } from "../session-unreadable.js";
import { isObject, type JsonObject } from "../values/json.js";
import type { Items } from "./items.js";
import type { Limits } from "./limits.js";

/** A value of a cell as JSON. A struct's missing fields are null in a table, and absent where the record was written as JSON. */
function jsonOf(value: unknown): unknown {
  if (typeof value === "bigint") return Number(value);
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? null : value.toISOString();
  if (value instanceof Uint8Array) return Buffer.from(value).toString("utf8");
  if (Array.isArray(value)) return value.map(jsonOf);
  if (!isObject(value)) return value ?? null;
  const held = Object.entries(value).filter(([, inner]) => inner !== null && inner !== undefined);
  return Object.fromEntries(held.map(([key, inner]) => [key, jsonOf(inner)]));
}

/** All bytes of the file in one buffer: what is in it is said at its end. */
async function whole(bytes: AsyncIterable<Uint8Array>, name: string, limits: Limits): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  let length = 0;
  for await (const piece of bytes) {
    length += piece.length;
    if (length > limits.table)
      throw new SessionUnreadable(`${name} is a Parquet file of more than ${limits.table} bytes; split it into smaller files.`);
    pieces.push(piece);
  }
  return Buffer.concat(pieces, length);
}

/** Decompressors that give up before a small page becomes a large one. */
function compressors(limits: Limits): Compressors {
  const bounded =
    (decompress: (page: Uint8Array, length: number) => Uint8Array) =>
    (page: Uint8Array, length: number): Uint8Array => {
      if (length > Math.max(limits.unpackedFreely, limits.ratio * page.length))
        throw new Error(`a page holds more than ${limits.ratio} times the bytes that it has`);
      return decompress(page, length);
    };
  return {
    SNAPPY: bounded((page, length) => {
      const out = new Uint8Array(length);
      snappyUncompress(page, out);
      return out;
    }),
    GZIP: bounded((page, length) => gunzipSync(page, { maxOutputLength: length })),
    BROTLI: bounded((page, length) => brotliDecompressSync(page, { maxOutputLength: length })),
    ZSTD: bounded((page, length) => unzstd(page, new Uint8Array(length))),
  };
}

/** Row groups are read one after the other, as the format's writers mean it. */
async function* groups(buffer: Buffer, metadata: FileMetaData, limits: Limits): AsyncGenerator<readonly JsonObject[]> {
  const { buffer: memory, byteOffset: start, length } = buffer;
  const slice = (from: number, to = length): ArrayBuffer => memory.slice(start + from, start + to) as ArrayBuffer;
  const file = { byteLength: length, slice };
  // JSON text stays text: what holds a conversation is read where records are unwrapped.
  const parsers = { jsonFromBytes: (cell: Uint8Array | undefined) => cell && Buffer.from(cell).toString("utf8") };
  const how = { file, metadata, compressors: compressors(limits), parsers, geoparquet: false };
  let rowStart = 0;
  for (const { num_rows } of metadata.row_groups) {
    const rowEnd = rowStart + Number(num_rows);
    const rows = await parquetReadObjects({ ...how, rowStart, rowEnd });
    yield rows.map(jsonOf).filter(isObject);
    rowStart = rowEnd;
  }
}

/**
 * The rows of a Parquet file as records.
 * @throws SessionUnreadable when it is damaged, holds more rows than a file may hold conversations, or exceeds another limit.
 */
export async function* parquetItems(bytes: AsyncIterable<Uint8Array>, name: string, limits: Limits): AsyncGenerator<Items> {
  const buffer = await whole(bytes, name, limits);
  const tooMany = `${name} holds more than ${limits.conversations} rows; split it into smaller files.`;
  try {
    const metadata = parquetMetadata(buffer, { geoparquet: false });
    if (metadata.num_rows > limits.conversations) throw new SessionUnreadable(tooMany, { limit: "conversations" });
    const held = metadata.row_groups.reduce((sum, group) => sum + Number(group.total_byte_size), 0);
    if (held > limits.decoded)
      throw new SessionUnreadable(`${name} holds more than ${limits.decoded} bytes; split it into smaller files.`, {
        limit: "decoded",
      });
    // Row by row: what is kept of a conversation's outputs is bounded until it is handed over.
    for await (const rows of groups(buffer, metadata, limits))
      for (const row of rows) yield { kind: "records", records: [row], bad: 0 };
  } catch (error) {
    if (error instanceof SessionUnreadable) throw error;
    throw new SessionUnreadable(`${name} starts like a Parquet file but cannot be read: ${(error as Error).message}.`);
  }
}

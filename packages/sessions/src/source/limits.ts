const MI = 1024 * 1024;

/** Bounds of one import, so that no file can exhaust the memory or the time of the service. */
export interface Limits {
  /** Characters of one line, or of a whole JSON document. */
  readonly line: number;
  /** Bytes of one file after decompression. */
  readonly decoded: number;
  /** How many times more bytes a file may hold than it has, once it holds more than `unpackedFreely`. */
  readonly ratio: number;
  /** Bytes that a compressed file may hold whatever its size. */
  readonly unpackedFreely: number;
  /** Bytes of a Parquet file, which is held in memory as a whole. */
  readonly table: number;
  /** Conversations of one file. */
  readonly conversations: number;
  /** Characters of tool output kept in full; beyond, long outputs keep their two ends, and less of them the more there are. */
  readonly outputs: number;
  /** Characters of what people and the model say that are kept in memory at once; beyond, the file is refused. */
  readonly text: number;
  /** Records or lines looked at before a file is refused as no session. */
  readonly head: number;
}

export const LIMITS: Limits = {
  line: 64 * MI,
  decoded: 4096 * MI,
  ratio: 200,
  unpackedFreely: 64 * MI,
  table: 1024 * MI,
  conversations: 10_000,
  outputs: 4 * MI,
  text: 64 * MI,
  head: 10_000,
};

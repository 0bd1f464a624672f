const MI = 1024 * 1024;

/** Bounds of one import, so that no file can exhaust the memory or the time of the service. */
export interface Limits {
  /** Characters of one line, or of a whole JSON document. */
  readonly line: number;
  /** Bytes of one file after decompression. */
  readonly decoded: number;
  /** Characters of tool output kept in full; beyond, tool outputs are shortened in their middle. */
  readonly outputs: number;
  /** Characters of all text kept in memory at once; beyond, the file is refused. */
  readonly text: number;
  /** Records or lines looked at before a file is refused as no session. */
  readonly head: number;
}

export const LIMITS: Limits = { line: 64 * MI, decoded: 4096 * MI, outputs: 32 * MI, text: 64 * MI, head: 10_000 };

export interface ByteRing {
  write(chunk: Buffer): void;
  /** Bytes written so far. */
  total(): number;
  /** What was written from byte `mark` to byte `end`, as far as it is still here. */
  between(mark: number, end: number): Buffer;
}

/** The last `capacity` bytes of a stream, in memory allocated once. */
export function createByteRing(capacity: number): ByteRing {
  const ring = Buffer.alloc(capacity);
  let total = 0;
  return {
    write(chunk) {
      const kept = chunk.subarray(-capacity);
      const at = (total + chunk.length - kept.length) % capacity;
      const head = Math.min(kept.length, capacity - at);
      kept.copy(ring, at, 0, head);
      kept.copy(ring, 0, head);
      total += chunk.length;
    },
    total: () => total,
    between(mark, end) {
      const from = Math.max(mark, total - capacity, 0);
      if (from >= end) return Buffer.alloc(0);
      const at = from % capacity;
      return Buffer.concat([ring.subarray(at), ring.subarray(0, at)]).subarray(0, end - from);
    },
  };
}

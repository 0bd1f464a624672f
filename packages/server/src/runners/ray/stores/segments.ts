import { createHash } from "node:crypto";
import type { Tail } from "./tail.js";

const DIGITS = 6;

export const segmentName = (name: string, at: number): string => `${name}/${String(at).padStart(DIGITS, "0")}`;

/**
 * A file that grows on a store whose objects do not: numbered parts, each written once and whole, in their order
 * (imprint_node/segments.py).
 */
export const createSegmentTail = (
  readPart: (name: string) => Promise<Buffer | null>,
  name: string,
  onData: (chunk: Buffer) => void,
): Tail => {
  const hash = createHash("sha256");
  let bytes = 0;
  let next = 0;
  return {
    async read(upTo = Number.MAX_SAFE_INTEGER) {
      const from = bytes;
      while (bytes < upTo) {
        const part = await readPart(segmentName(name, next));
        if (part === null) break;
        next += 1;
        bytes += part.length;
        hash.update(part);
        onData(part);
      }
      return bytes > from;
    },
    bytes: () => bytes,
    sha256: () => hash.copy().digest("hex"),
    begun: () => next > 0,
  };
};

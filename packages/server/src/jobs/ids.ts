import { randomBytes } from "node:crypto";
import type { Clock } from "../common/clock.js";

const ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"; // Crockford base32
const RANDOM_BITS = 80n;

interface IdOptions {
  readonly clock: Pick<Clock, "now">;
  readonly random?: (bytes: number) => Uint8Array;
}

/** ULIDs, each greater than the one before: also within a millisecond, and when the clock goes back. */
export function createIds({ clock, random = randomBytes }: IdOptions): () => string {
  let last = -1n;
  return () => {
    const tail = random(10).reduce((bits, byte) => (bits << 8n) | BigInt(byte), 0n);
    const fresh = (BigInt(clock.now()) << RANDOM_BITS) | tail;
    last = fresh >> RANDOM_BITS > last >> RANDOM_BITS ? fresh : last + 1n;
    return encode(last);
  };
}

function encode(value: bigint): string {
  return Array.from({ length: 26 }, (_, index) => ALPHABET[Number((value >> BigInt(5 * (25 - index))) & 31n)]).join("");
}

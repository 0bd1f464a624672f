import { createHash } from "node:crypto";

/** What a seed, any text, decides: the same seed draws the same. */
export function drawing(seed) {
  let state = createHash("sha256").update(seed).digest().readUInt32LE();
  const next = () => {
    // mulberry32
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (count) => Math.floor(next() * count);
  const shuffled = (list) => {
    const left = [...list];
    return list.map(() => left.splice(below(left.length), 1)[0]);
  };
  return {
    below,
    shuffled,
    pick: (list) => list[below(list.length)],
    /** Gives each of the list once. */
    pool: (list) => {
      const left = shuffled(list);
      return () => {
        if (left.length === 0) throw new Error("A pool is empty: its list has to be longer.");
        return left.pop();
      };
    },
  };
}

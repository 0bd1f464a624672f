/** Repeatable draws (mulberry32 over an FNV-1a hash of the words that name the place of use). */
export function drawer(...words) {
  let state = 0x811c9dc5;
  for (const character of words.join("\u0000")) state = Math.imul(state ^ character.codePointAt(0), 0x01000193) >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (limit) => Math.floor(next() * limit);
  const pick = (list) => list[below(list.length)];
  const text = (alphabet, length) => Array.from({ length }, () => alphabet[below(alphabet.length)]).join("");
  return { next, below, pick, text, between: (low, high) => low + below(high - low + 1) };
}

export const LOWER = "abcdefghijklmnopqrstuvwxyz";
export const UPPER = LOWER.toUpperCase();
export const DIGITS = "0123456789";
export const HEX = "0123456789abcdef";
export const ALNUM = LOWER + UPPER + DIGITS;
export const LOWNUM = LOWER + DIGITS;
export const UPNUM = UPPER + DIGITS;
export const BASE64 = `${ALNUM}+/`;
export const URL_SAFE = `${ALNUM}-_`;

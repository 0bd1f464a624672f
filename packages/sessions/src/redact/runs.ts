import type { Scan } from "./scan.js";

/** A set of characters of the first 256, as a table to look in. */
function characters(all: string): Uint8Array {
  const table = new Uint8Array(256);
  for (const char of all) table[char.charCodeAt(0)] = 1;
  return table;
}

const LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const ALNUM = `${LETTERS}0123456789`;
export const OF_LETTER = characters(LETTERS);
export const OF_ALNUM = characters(ALNUM);
export const OF_DIGIT = characters("0123456789");
/** What a double click selects. */
export const OF_WORD = characters(`${ALNUM}_-`);
export const OF_TOKEN = characters(`${ALNUM}_.-`);
export const OF_BASE64 = characters(`${ALNUM}+/`);

/**
 * Visits every stretch of at least `shortest` of the given characters. That all are so long lets the search look at every
 * `shortest`th character only.
 */
export function visitRuns(
  { text, bytes }: Scan,
  of: Uint8Array,
  shortest: number,
  visit: (start: number, end: number) => void,
): void {
  const length = text.length;
  const isIn = (at: number): boolean => of[bytes[at] ?? 0] === 1;
  for (let probe = shortest - 1; probe < length; probe += shortest) {
    if (!isIn(probe)) continue;
    let start = probe;
    while (start > 0 && isIn(start - 1)) start--;
    let end = probe + 1;
    while (end < length && isIn(end)) end++;
    if (end - start >= shortest) visit(start, end);
    probe += shortest * Math.floor((end - 1 - probe) / shortest);
  }
}

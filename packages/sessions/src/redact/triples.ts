import type { Scan } from "./scan.js";

const SIZE = 1 << 15;
const MOST_VISITORS = 8;
/** For each three characters, which visitors have a word that begins so. */
const table = new Uint8Array(SIZE);
let visitors = 0;

/** Where words of each visitor may begin in the text that was swept last. */
let swept: Scan | undefined;
const places: number[][] = Array.from({ length: MOST_VISITORS }, () => []);

/** Five bits of each letter: the same for large and small letters. */
const next = (triple: number, code: number): number => ((triple << 5) | (code & 31)) & (SIZE - 1);

/** Goes over a text once for all visitors. */
function sweep(scan: Scan): void {
  swept = scan;
  for (const list of places) list.length = 0;
  const { bytes } = scan;
  const { length } = scan.text;
  let triple = next(next(0, bytes[0] ?? 0), bytes[1] ?? 0);
  for (let at = 2; at < length; at++) {
    triple = next(triple, bytes[at] ?? 0);
    const bits = table[triple] ?? 0;
    if (bits !== 0) for (let visitor = 0; visitor < visitors; visitor++) if (bits & (1 << visitor)) places[visitor]?.push(at - 2);
  }
}

/**
 * Visits every place where one of the words may begin, in large or small letters: by its first three characters, which costs
 * a fraction of what an expression of many words does. What is visited must still be looked at. `visit` may return where to go on.
 * @param words of three characters at least
 */
export function wordVisitor(words: readonly string[]): (scan: Scan, visit: (at: number) => number | undefined) => void {
  const visitor = visitors++;
  for (const word of words) {
    const triple = [0, 1, 2].reduce((sum, at) => next(sum, word.charCodeAt(at)), 0);
    table[triple] = (table[triple] ?? 0) | (1 << visitor);
  }
  return (scan, visit) => {
    if (swept !== scan) sweep(scan);
    let from = 0;
    for (const at of places[visitor] ?? []) if (at >= from) from = visit(at) ?? from;
  };
}

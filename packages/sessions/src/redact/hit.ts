import type { Scan } from "./scan.js";

/** A secret in a text: where it stands and of which kind it is. */
export interface Hit {
  readonly start: number;
  readonly end: number;
  readonly kind: string;
}

/** Finds secrets of some kinds. */
export type Finder = (scan: Scan) => readonly Hit[];

/** What `hitAt` finds at the positions of a needle. */
export function hitsAt(text: string, needle: string, hitAt: (at: number) => Hit | null): Hit[] {
  const hits: Hit[] = [];
  for (let at = text.indexOf(needle); at >= 0; at = text.indexOf(needle, at + 1)) {
    const hit = hitAt(at);
    if (hit !== null) hits.push(hit);
  }
  return hits;
}

/** Bits per character of a text, by the frequencies in itself. */
export function entropy(text: string): number {
  const counts = new Map<string, number>();
  for (const char of text) counts.set(char, (counts.get(char) ?? 0) + 1);
  return [...counts.values()].reduce((sum, count) => sum - (count / text.length) * Math.log2(count / text.length), 0);
}

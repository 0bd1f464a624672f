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

/** The hits in order, those that overlap as one: it is of the kind that comes first in the list. */
export function merged(hits: readonly Hit[]): readonly Hit[] {
  if (hits.length < 2) return hits;
  const ranked = hits.map((hit, rank) => ({ hit, rank })).sort((a, b) => a.hit.start - b.hit.start || a.rank - b.rank);
  const kept: { hit: Hit; rank: number }[] = [];
  for (const one of ranked) {
    const last = kept.at(-1);
    if (last === undefined || one.hit.start >= last.hit.end) {
      kept.push(one);
      continue;
    }
    const kind = one.rank < last.rank ? one.hit.kind : last.hit.kind;
    last.hit = { start: last.hit.start, end: Math.max(last.hit.end, one.hit.end), kind };
    last.rank = Math.min(last.rank, one.rank);
  }
  return kept.map(({ hit }) => hit);
}

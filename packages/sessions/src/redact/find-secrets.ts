import { findAddresses } from "./addresses.js";
import { findAssignments, findOptions } from "./assignments.js";
import type { Finder, Hit } from "./hit.js";
import { findHomePaths } from "./home-paths.js";
import { scanOf } from "./scan.js";
import { findKeyBlocks, findTokens } from "./tokens.js";

/** In the order of their say: where two find the same text the earlier one names it. */
const FINDERS: readonly Finder[] = [findKeyBlocks, findTokens, findAddresses, findOptions, findAssignments, findHomePaths];

/** The secrets of a text in order, none overlapping another. */
export function findSecrets(text: string): readonly Hit[] {
  const scan = scanOf(text);
  const found: Hit[] = [];
  for (const find of FINDERS) for (const hit of find(scan)) found.push(hit);
  if (found.length < 2) return found;
  const ranked = found.map((hit, rank) => ({ hit, rank })).sort((a, b) => a.hit.start - b.hit.start || a.rank - b.rank);
  const kept: { readonly hit: Hit; readonly rank: number }[] = [];
  for (const one of ranked) {
    const last = kept.at(-1);
    if (last === undefined || one.hit.start >= last.hit.end) kept.push(one);
    else if (one.rank < last.rank) kept[kept.length - 1] = one;
  }
  return kept.map(({ hit }) => hit);
}

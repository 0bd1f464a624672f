import type { Rule } from "./rules.js";

export interface Hit {
  readonly start: number;
  readonly end: number;
  readonly kind: string;
}

/** Longer matches are no secrets but data; the bound also keeps every rule linear. */
const MAX_SECRET = 16_384;

function ruleHits(text: string, { kind, pattern, accept }: Rule): Hit[] {
  const hits: Hit[] = [];
  for (const match of text.matchAll(pattern)) {
    // A rule with a group `secret` names what to replace; without one all that matched is the secret.
    const [start, end] = match.indices?.groups?.secret ?? [match.index, match.index + match[0].length];
    if (end - start > MAX_SECRET || (accept !== undefined && !accept(text.slice(start, end), match[0]))) continue;
    hits.push({ start, end, kind });
  }
  return hits;
}

/** The secrets of a text in order, none overlapping another: where two meet, that of the earlier rule stands. */
export function scan(text: string, rules: readonly Rule[]): Hit[] {
  const hits: Hit[] = [];
  for (const rule of rules) {
    if (!rule.keywords.some((keyword) => text.includes(keyword))) continue;
    for (const hit of ruleHits(text, rule))
      if (hits.every((other) => hit.end <= other.start || hit.start >= other.end)) hits.push(hit);
  }
  return hits.sort((left, right) => left.start - right.start);
}

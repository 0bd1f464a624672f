import { copyCases, plainCases, secretCases } from "./cases.mjs";
import { survives, telling, unchanged } from "./judge.mjs";

const shown = ({ entry, place, half }) => ({ name: entry.name, kind: entry.kind, place, half });

async function judged(candidate, cases, verdict) {
  const results = [];
  for (const one of cases) results.push({ ...shown(one), hit: verdict(one, await candidate.read(one.recording)) });
  return results;
}

const isFound = ({ pieces }, text) => !telling(pieces).some((piece) => survives(piece, text));
const isChanged = ({ text }, after) =>
  !unchanged(
    text.split("\n").map((line) => line.trim()),
    after,
  );

/** Of given cases: what a candidate finds, and what it changes that is no secret. */
export const measureCases = async ({ candidate, secrets, texts }) => ({
  found: await judged(candidate, secrets, isFound),
  false: await judged(candidate, texts, isChanged),
});

/** What a candidate finds, what of it comes back as a copy, and what it changes that is no secret. */
export async function measure({ candidate, seed, only }) {
  return {
    found: await judged(candidate, secretCases(seed, only), isFound),
    copies: await judged(candidate, copyCases(seed, only), isFound),
    false: await judged(candidate, plainCases(seed, only), isChanged),
  };
}

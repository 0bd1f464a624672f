import type { Evidence, Outcome } from "@imprint/contracts";

/** What decides alone, the first of them that is there: the person's last words, then whether the recording has an end at all. */
const DECIDES: readonly (readonly [Evidence["kind"], Outcome])[] = [
  ["complaint", "failure"],
  ["thanks", "success"],
  ["cut_off", "unknown"],
];

/** What each other kind of evidence weighs, however often it is there: above 0 speaks for success. */
const WEIGHTS: Readonly<Partial<Record<Evidence["kind"], number>>> = {
  commit: 4,
  answered: 4,
  replied: 2,
  tests_passed: 2,
  check_passed: 2,
  complaint_answered: -2,
  check_failed: -2,
  tests_failed: -3,
  call_failed: -4,
  lost: -4,
  reverted: -6,
  interrupted: -8,
};

const ENOUGH = 4;

/** How a session ended by its evidence; `unknown` where that is too little or contradicts itself. */
export function judge(evidence: readonly Evidence[]): Outcome {
  const kinds = new Set(evidence.map(({ kind }) => kind));
  const decided = DECIDES.find(([kind]) => kinds.has(kind));
  if (decided) return decided[1];
  const score = [...kinds].reduce((sum, kind) => sum + (WEIGHTS[kind] ?? 0), 0);
  return score >= ENOUGH ? "success" : score <= -ENOUGH ? "failure" : "unknown";
}

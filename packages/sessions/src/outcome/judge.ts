import type { Evidence, Outcome } from "@imprint/contracts";

/** What each kind of evidence weighs: above 0 speaks for success. Only the most telling of a kind counts. */
const WEIGHTS: Readonly<Record<Evidence["kind"], number>> = {
  thanks: 8,
  commit: 4,
  answered: 4,
  tests_passed: 2,
  check_passed: 2,
  cut_off: 0,
  complaint_answered: -2,
  call_failed: -2,
  tests_failed: -3,
  check_failed: -2,
  reverted: -6,
  lost: -8,
  interrupted: -8,
  complaint: -10,
};

const ENOUGH = 4;

/** How a session ended by its evidence; `unknown` where that is too little or contradicts itself. */
export function judge(evidence: readonly Evidence[]): Outcome {
  const kinds = new Set(evidence.map(({ kind }) => kind));
  if (kinds.has("cut_off")) return "unknown";
  const score = [...kinds].reduce((sum, kind) => sum + WEIGHTS[kind], 0);
  return score >= ENOUGH ? "success" : score <= -ENOUGH ? "failure" : "unknown";
}

import type { Outcome } from "@imprint/contracts";
import { isObject, type JsonObject, objectOrEmpty, scalarText } from "./json.js";

/** How a run ended by the word of a test or a verifier, and that word verbatim. */
export interface Verdict {
  readonly outcome: Outcome;
  readonly outcomeSignal: string | null;
}

export const NO_VERDICT: Verdict = { outcome: "unknown", outcomeSignal: null };

const YES = /^(?:true|1(?:\.0+)?)$/i;
const NO = /^(?:false|0(?:\.0+)?)$/i;
const wordOf = (value: unknown): string => (typeof value === "boolean" ? String(value) : scalarText(value).trim());

/** Of a flag: anything but a yes or a no says nothing. */
export function flagVerdict(name: string, value: unknown): Verdict | null {
  const word = wordOf(value);
  if (!YES.test(word) && !NO.test(word)) return null;
  return { outcome: YES.test(word) ? "success" : "failure", outcomeSignal: `${name}: ${word}` };
}

/** Of a reward: 1 and more is all that was asked for, 0 and less nothing of it; what lies between is not judged. */
export function rewardVerdict(value: unknown): Verdict | null {
  const word = wordOf(value);
  const reward = word === "" ? Number.NaN : Number(word);
  if (Number.isNaN(reward)) return null;
  return { outcome: reward >= 1 ? "success" : reward <= 0 ? "failure" : "unknown", outcomeSignal: `reward: ${word}` };
}

/** What a record says beside its conversation: graders write `resolved` or `reward` into it, or into one of these parts of it. */
export function verdictOf(record: JsonObject): Verdict {
  const tests = objectOrEmpty(record.test_result);
  const { extra, metadata, details, info, report, result, verifier_result } = record;
  const parts = [record, report, tests, tests.report, extra, metadata, details, info, result].filter(isObject);
  const verifiers = [verifier_result, ...parts.map((part) => part.verifier_result)].filter(isObject);
  const rewards = [...parts, ...[...parts, ...verifiers].map(({ rewards }) => rewards).filter(isObject)];
  const verdicts = [
    ...parts.map(({ resolved }) => flagVerdict("resolved", resolved)),
    ...rewards.map(({ reward }) => rewardVerdict(reward)),
  ];
  return verdicts.find((verdict) => verdict !== null) ?? NO_VERDICT;
}

import { points, type TaskOutcome, type TaskRowFigures, type TaskVerdict } from "@imprint/contracts";
import { percent, pValue } from "./evaluation.js";
import type { Tone } from "./verdict.js";

export const TASK_TONES: Readonly<Record<TaskVerdict, Tone>> = {
  solves_more: "good",
  no_evidence: "doubtful",
  too_little_to_tell: "doubtful",
  solves_less: "bad",
};

export const OUTCOME_TONES: Readonly<Record<TaskOutcome, Tone>> = {
  solved: "good",
  check_failed: "bad",
  wrong_file: "bad",
  no_call: "bad",
  limit: "doubtful",
  error: "doubtful",
};

export const TASK_ROW_NAMES = {
  base: "Base model",
  adapter: "With the adapter",
  session: "Session in the prompt",
  control: "Control adapter",
} as const;

/** What a row solved, in words: of how many, the interval of the share, and how far that is from the base. */
export function solvedText({ solved, of, interval, change, p_value: p }: TaskRowFigures): string {
  const range = interval === null ? "" : ` (${interval.map(percent).join(" to ")})`;
  const against = change === null || p === null ? "" : `, ${points(change)} points, p ${pValue(p)}`;
  return `${solved} of ${of}${range}${against}`;
}

import { change, type HeldOutPlan, type HeldOutProof } from "@imprint/contracts";
import { intervalText, meaningOf } from "./evaluation.js";
import { count, short } from "./numbers.js";

const MOST_NAMED = 5;

/** What is kept out of a training. */
export function heldOutText(plan: HeldOutPlan | null): string {
  if (plan === null) return "nothing: whether it helps on other text is not measured";
  const { sessions, whole, windows, supervised_tokens: tokens } = plan;
  const named = sessions.slice(0, MOST_NAMED).join(", ");
  const rest = sessions.length > MOST_NAMED ? ` and ${sessions.length - MOST_NAMED} more` : "";
  return `${count(tokens, "supervised token")} in ${count(windows, "window")} of ${whole ? "" : "the last part of "}${named}${rest}`;
}

export const hasRisen = ({ loss_before: before, loss_after: after }: HeldOutProof): boolean => after > before;

/** Losses in nats per token. */
export const heldOutChange = ({ loss_before: before, loss_after: after, interval, tokens }: HeldOutProof): string =>
  `${short(before)} → ${short(after)}  (${change(before, after)}; 95 % interval ${intervalText(interval)}) over ${count(tokens, "supervised token")}`;

/** What it means that a held-out loss rose. */
export const warningOf = ({ interval }: HeldOutProof): string =>
  meaningOf(interval) === "worse"
    ? "it makes the model worse on work that it was not trained on"
    : "that may be chance, and is no sign that it helps on other work";

import { type Adapter, conditionOf } from "@imprint/contracts";
import { words } from "../text/numbers.js";
import { EVALUATION_TONES } from "../text/verdict.js";

export function Condition({ adapter }: { readonly adapter: Adapter }) {
  const condition = conditionOf(adapter);
  const isGood = condition === "ok" && adapter.evaluation?.verdict !== "harms";
  return (
    <span className="chip" data-tone={isGood ? "good" : condition === "ok" ? undefined : "bad"}>
      {condition}
    </span>
  );
}

/** What the last evaluation says of an adapter. */
export function EvaluationChip({ evaluation }: Pick<Adapter, "evaluation">) {
  if (evaluation === null) return <span className="muted">not evaluated</span>;
  return (
    <span className="chip" data-tone={EVALUATION_TONES[evaluation.verdict]} title={evaluation.sentence}>
      {words(evaluation.verdict)}
    </span>
  );
}

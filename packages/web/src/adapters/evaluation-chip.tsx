import type { Adapter } from "@imprint/contracts";
import { EVALUATION_TONES } from "../text/evaluation.js";
import { words } from "../text/numbers.js";

/** What the last evaluation says of an adapter. */
export function EvaluationChip({ evaluation }: Pick<Adapter, "evaluation">) {
  if (evaluation === null) return <span className="muted">not evaluated</span>;
  return (
    <span className="chip" data-tone={EVALUATION_TONES[evaluation.verdict]} title={evaluation.sentence}>
      {words(evaluation.verdict)}
    </span>
  );
}

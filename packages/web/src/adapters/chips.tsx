import { type Adapter, conditionOf } from "@imprint/contracts";
import { words } from "../text/numbers.js";
import { TASK_TONES } from "../text/tasks.js";
import { EVALUATION_TONES } from "../text/verdict.js";

export function Condition({ adapter }: { readonly adapter: Adapter }) {
  const condition = conditionOf(adapter);
  const isGood = condition === "ok" && adapter.evaluation?.verdict !== "harms" && adapter.tasks?.verdict !== "solves_less";
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

/** What an agent solved with an adapter, and what that says. */
export function TasksChip({ tasks }: Pick<Adapter, "tasks">) {
  if (tasks === null) return <span className="muted">not tried</span>;
  const { verdict, sentence, solved, of } = tasks;
  return (
    <span className="chip" data-tone={verdict === null ? undefined : TASK_TONES[verdict]} title={sentence}>
      {verdict === null ? "being tried" : words(verdict)}, {solved} of {of}
    </span>
  );
}

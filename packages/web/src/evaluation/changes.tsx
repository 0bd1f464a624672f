import type { Evaluation, EvaluationRow } from "@imprint/contracts";
import { type Interval, Intervals } from "../plot/intervals.js";
import { intervalText, meaningOf, rowName, signed } from "../text/evaluation.js";

const intervalOf = (row: EvaluationRow): Interval => {
  const { change, interval } = row;
  if (change === null || interval === null) return { label: rowName(row), value: 0, interval: null, text: "0 by definition" };
  const text = `${signed(change)} (${intervalText(interval)}): ${meaningOf(interval)}`;
  return { label: rowName(row), value: change, interval, text };
};

/** How far each row's loss is from the base model's. */
export function Changes({ result }: { readonly result: Evaluation }) {
  return (
    <Intervals
      title="Change of the loss on unseen sessions, nats per token, with its 95 % interval"
      rows={result.rows.map(intervalOf)}
      sides={["better than the base model", "worse"]}
    />
  );
}

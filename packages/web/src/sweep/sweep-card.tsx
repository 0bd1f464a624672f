import type { Sweep, Trial } from "@imprint/contracts";
import { useMemo } from "react";
import { Plot } from "../plot/plot.js";
import { intervalText, percent } from "../text/evaluation.js";
import { count, short } from "../text/numbers.js";
import { Card } from "../ui/card.js";
import { Table } from "../ui/table.js";
import { curvesOf } from "./curves-of.js";

const STATES: Readonly<Record<Trial["state"], string>> = {
  waiting: "not begun",
  training: "under way",
  paused: "goes on",
  stopped: "stopped: in the worse half",
  finished: "trained to its end",
  failed: "given up: its loss became NaN",
};

/** What was chosen, and how far its figure may be believed. */
function sentenceOf({ best, trials, unseen, halvings }: Sweep): string {
  if (best === null) {
    const rule = halvings.length === 0 ? "All are trained to their end." : `The worse half is stopped ${timesOf(halvings)}.`;
    return `${count(trials.length, "trial")} on the same windows. ${rule}`;
  }
  const luck = `the lowest of ${trials.length} losses is in part luck on the text that chose it`;
  return unseen === null
    ? `Trial ${best} is the adapter. Its proof is measured on the held-out text that chose it, and is optimistic: ${luck}.`
    : `Trial ${best} is the adapter. Its proof is measured on ${count(unseen.supervised_tokens, "token")} that chose nothing: ${luck}.`;
}

const timesOf = (halvings: readonly number[]): string =>
  `after ${halvings.map((share) => percent(share)).join(", then ")} of its steps`;

function Row({ trial, best }: { readonly trial: Trial; readonly best: number | null }) {
  const { loss_before: before, loss_after: after, interval } = trial;
  return (
    <tr>
      <th scope="row" className="nowrap">
        {trial.trial === best ? `${trial.trial}, chosen` : trial.trial}
      </th>
      <td className="number">{trial.rank}</td>
      <td className="number">{trial.alpha}</td>
      <td className="number">{trial.learning_rate}</td>
      <td className="number">{trial.epochs}</td>
      <td className="number nowrap">
        {trial.steps} of {trial.max_steps}
      </td>
      <td className="number nowrap">{before === null || after === null ? "–" : `${short(before)} → ${short(after)}`}</td>
      <td className="number nowrap">{interval === null ? "–" : intervalText(interval)}</td>
      <td>{STATES[trial.state]}</td>
    </tr>
  );
}

/** What a sweep tried: held-out losses on the way, and every trial in a row. */
export function SweepCard({ sweep }: { readonly sweep: Sweep }) {
  const { x, lines } = useMemo(() => curvesOf(sweep), [sweep]);
  return (
    <Card title="Trials">
      <p className="verdict">{sentenceOf(sweep)}</p>
      {lines.length > 0 && <Plot title="Held-out loss" x={x} lines={lines} />}
      <Table
        label="Trials"
        head={["Trial", "Rank", "Alpha", "Learning rate", "Passes", "Steps", "Held-out loss", "Change (95 %)", "Outcome"]}
      >
        {sweep.trials.map((trial) => (
          <Row key={trial.trial} trial={trial} best={sweep.best} />
        ))}
      </Table>
    </Card>
  );
}

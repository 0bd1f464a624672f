import type { ProjectRun } from "@imprint/contracts";
import { type Interval, Intervals } from "../plot/intervals.js";
import { intervalText, meaningOf, signed } from "../text/evaluation.js";

/** More lines are no plot any more; the history has all. */
const SHOWN = 30;

const intervalOf = ({ run, adapter_id: id, figures }: ProjectRun): readonly Interval[] => {
  if (figures === null) return [];
  const { change, interval } = figures;
  const text = interval === null ? signed(change) : `${signed(change)} (${intervalText(interval)}): ${meaningOf(interval)}`;
  return [{ label: `Run ${run}, ${id}`, value: change, interval: interval ?? [change, change], text }];
};

/** How far each run's adapter was from the base model on the sessions that were held out then, the first run first. */
export function Verdicts({ runs }: { readonly runs: readonly ProjectRun[] }) {
  const rows = runs.flatMap(intervalOf).slice(0, SHOWN).toReversed();
  if (rows.length === 0) return null;
  return (
    <Intervals
      title="Change of the loss on held-out sessions, run by run, nats per token, with its 95 % interval"
      rows={rows}
      sides={["better than the base model", "worse"]}
    />
  );
}

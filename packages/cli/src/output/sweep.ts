import type { Sweep, Trial } from "@imprint/contracts";
import type { Paint } from "./paint.js";
import { table } from "./table.js";
import { count } from "./text.js";

const STATES: Readonly<Record<Trial["state"], string>> = {
  waiting: "not begun",
  training: "under way",
  paused: "goes on",
  stopped: "stopped: in the worse half",
  finished: "to its end",
  failed: "given up: its loss became NaN",
};

const signed = (value: number): string => `${value < 0 ? "−" : "+"}${Math.abs(value).toFixed(3)}`;

const rowOf = (trial: Trial, best: number | null): readonly string[] => [
  `${trial.trial === best ? "→ " : "  "}${trial.trial}`,
  String(trial.rank),
  String(trial.alpha),
  String(trial.learning_rate),
  String(trial.epochs),
  `${trial.steps}/${trial.max_steps}`,
  trial.loss_after === null || trial.loss_before === null
    ? ""
    : `${trial.loss_before.toFixed(3)} → ${trial.loss_after.toFixed(3)}`,
  trial.interval === null ? "" : `${signed(trial.interval[0])} to ${signed(trial.interval[1])}`,
  STATES[trial.state],
];

/** How far the best figure of a sweep may be believed. */
const honestyOf = ({ trials, unseen }: Sweep): string =>
  unseen === null
    ? `The lowest of ${trials.length} losses is in part luck, and the proof is measured on the text that chose it: it is optimistic.`
    : `The proof is measured on ${count(unseen.supervised_tokens, "token")} that chose nothing: the lowest of ${trials.length} losses is in part luck.`;

/** Every trial in a line, the chosen one marked, and what the figures are worth. */
export function sweepLines(sweep: Sweep, paint: Paint): readonly string[] {
  const headings = ["  trial", "rank", "alpha", "rate", "passes", "steps", "held-out loss", "change", ""];
  const rows = sweep.trials.map((trial) => rowOf(trial, sweep.best));
  return [
    ...table(headings, rows, paint).split("\n"),
    ...(sweep.best === null ? [] : [paint("yellow", `! ${honestyOf(sweep)}`)]),
  ];
}

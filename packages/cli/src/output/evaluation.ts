import { type ActionCounts, change, type Evaluation, type EvaluationRow } from "@imprint/contracts";
import type { Paint } from "./paint.js";
import { table } from "./table.js";
import { count, plain } from "./text.js";

type Verdict = Evaluation["verdict"];

export const VERDICTS = {
  helps: "helps",
  no_evidence: "no evidence",
  harms: "harms",
  too_little_to_tell: "too little to tell",
} as const satisfies Record<Verdict, string>;

const MARKS = {
  helps: ["green", "✓"],
  no_evidence: ["yellow", "–"],
  harms: ["red", "✗"],
  too_little_to_tell: ["yellow", "?"],
} as const;

const KINDS = { tool_name: "tool names", path: "paths", command: "commands", code: "code", prose: "prose" } as const;

const ACTIONS: readonly (readonly [keyof ActionCounts, string])[] = [
  ["valid_call", "parse as a call"],
  ["same_tool", "same tool"],
  ["same_arguments", "same arguments"],
  ["same_file", "same file"],
  ["loop", "repeat the call before"],
];

const nats = (loss: number): string => loss.toFixed(3);
const percent = (share: number): string => `${(share * 100).toFixed(0)} %`;
const twoDigits = (value: number): string => (value < 0.001 ? "< 0.001" : value.toFixed(3));

/** The verdict, in the colour of what it says. */
export function verdictLine({ verdict, sentence }: Pick<Evaluation, "verdict" | "sentence">, paint: Paint): string {
  const [style, mark] = MARKS[verdict];
  return `${paint(style, mark)} ${paint("bold", plain(sentence))}`;
}

const nameOf = ({ row, adapter_id }: EvaluationRow): string =>
  ({
    base: "base model",
    adapter: "with the adapter",
    control: `with ${adapter_id}, the control`,
    context: "base model that reads what was trained on",
  })[row];

function rowTable(rows: readonly EvaluationRow[], paint: Paint): string {
  const base = rows[0]?.loss ?? 0;
  return table(
    ["LOSS ON THE AGENT'S TOKENS", "", "CHANGE", "95 % INTERVAL", "MEDIAN TOKEN", "MEDIAN TURN", "RIGHT"],
    rows.map((row) => [
      nameOf(row),
      nats(row.loss),
      row.change === null ? "" : change(base, base + row.change),
      row.interval === null ? "" : row.interval.map((end) => change(base, base + end)).join(" to "),
      row.median === undefined ? "" : nats(row.median),
      row.median_of_turns === undefined ? "" : nats(row.median_of_turns),
      percent(row.top1),
    ]),
    paint,
  );
}

function kindTable(rows: readonly EvaluationRow[], paint: Paint): string | null {
  const [base, adapter] = (["base", "adapter"] as const).map((name) => rows.find(({ row }) => row === name));
  if (!base || !adapter) return null;
  const lines = base.kinds.flatMap(({ kind, tokens, loss }) => {
    const after = adapter.kinds.find((one) => one.kind === kind);
    return after ? [[KINDS[kind], String(tokens), nats(loss), nats(after.loss), change(loss, after.loss)]] : [];
  });
  return table(["KIND OF TOKEN", "TOKENS", "BASE", "ADAPTER", "CHANGE"], lines, paint);
}

function neutralTable({ neutral }: Evaluation, paint: Paint): string {
  const lines = neutral.map(({ name, loss_before: before, loss_after: after }) => [
    name,
    nats(before),
    nats(after),
    change(before, after),
  ]);
  return table(["NEUTRAL TEXT", "BASE", "ADAPTER", "CHANGE"], lines, paint);
}

function actionTable({ actions }: Evaluation, paint: Paint): string | null {
  if (actions === null) return null;
  const { sampled, base, adapter, p_values } = actions;
  const lines = ACTIONS.map(([key, name]) => [name, String(base[key]), String(adapter[key]), twoDigits(p_values[key])]);
  return table([`NEXT ACTIONS, OF ${sampled}`, "BASE", "ADAPTER", "P"], lines, paint);
}

function testedOn({ sessions, skipped }: Evaluation, paint: Paint): string {
  const lines = sessions.map(({ session_id, supervised_tokens, dropped_turns, near_copy_of }) => {
    const shared = dropped_turns === 0 ? "" : `; ${count(dropped_turns, "shared turn")} left out`;
    const copy = near_copy_of === null ? "" : `; nearly a copy of ${near_copy_of}`;
    return `on ${session_id}: ${count(supervised_tokens, "token")}${shared}${copy}`;
  });
  const left = skipped.map(({ message }) => paint("yellow", `! ${plain(message)}`));
  return [...lines, ...left].join("\n");
}

/** An evaluation in words and tables: the verdict first, losses in nats per token. */
export function evaluationText(evaluation: Evaluation, paint: Paint): string {
  const { rows } = evaluation;
  const parts = [
    verdictLine(evaluation, paint),
    testedOn(evaluation, paint),
    rowTable(rows, paint),
    kindTable(rows, paint),
    neutralTable(evaluation, paint),
    actionTable(evaluation, paint),
  ];
  return parts.filter((part) => part !== null && part !== "").join("\n\n");
}

import { points, type TaskReport, type TaskRowFigures, type TaskRowName, type TaskSummary } from "@imprint/contracts";
import type { Paint } from "./paint.js";
import { table } from "./table.js";
import { plain } from "./text.js";

const MARKS = {
  solves_more: ["green", "✓"],
  no_evidence: ["yellow", "–"],
  solves_less: ["red", "✗"],
  too_little_to_tell: ["yellow", "?"],
} as const;

const NAMES: Readonly<Record<TaskRowName, string>> = {
  base: "BASE",
  adapter: "ADAPTER",
  session: "BASE, SESSION IN PROMPT",
  control: "CONTROL",
};

/** The verdict, in the colour of what it says. */
export function tasksLine({ verdict, sentence }: Pick<TaskSummary, "verdict" | "sentence">, paint: Paint): string {
  const [style, mark] = verdict === null ? (["dim", "…"] as const) : MARKS[verdict];
  return `${paint(style, mark)} ${paint("bold", plain(sentence))}`;
}

/** A task in a row: its outcome, or how many of its runs solved it. */
function cellText({ runs, seeds }: TaskReport, task: string, row: TaskRowName): string {
  const own = runs.filter((run) => run.task === task && run.row === row);
  if (own.length === 0) return "–";
  if (seeds === 1) return own[0]?.outcome.replaceAll("_", " ") ?? "";
  return `${own.filter(({ outcome }) => outcome === "solved").length} of ${own.length}`;
}

const percents = (interval: readonly number[]): string => interval.map((share) => `${Math.round(share * 100)}`).join(" to ");

const figures = ({ solved, of, interval, change, p_value: p }: TaskRowFigures): string =>
  [
    `${solved} of ${of}`,
    ...(interval === null ? [] : [`${percents(interval)} %`]),
    ...(change === null || p === null ? [] : [`${points(change)} points, p ${p < 0.001 ? "< 0.001" : p.toFixed(3)}`]),
  ].join("; ");

/** What was measured on tasks: the verdict, a line a task, and what each row solved. */
export function tasksText(report: TaskReport, paint: Paint): string {
  const names = report.rows.map(({ row }) => row);
  const lines = report.tasks.map(({ name }) => [name, ...names.map((row) => cellText(report, name, row))]);
  return [
    tasksLine(report, paint),
    table(["TASK", ...names.map((row) => NAMES[row])], lines, paint),
    table(
      ["ROW", "SOLVED, 95 % INTERVAL, AGAINST THE BASE"],
      report.rows.map((row) => [NAMES[row.row].toLowerCase(), figures(row)]),
      paint,
    ),
  ].join("\n\n");
}

import type { Paint } from "../output/paint.js";
import { table } from "../output/table.js";
import { longestRun } from "./longest-run.js";
import { type Measured, MODELS, type Model, type Result } from "./result.js";
import { median, wilson } from "./statistics.js";

export interface Summary {
  readonly canaries: number;
  readonly extracted: number;
  /** Of the share of extracted ones, 95 %. */
  readonly interval: readonly [low: number, high: number];
  readonly median_rank: number;
  readonly ranks: readonly [lowest: number, highest: number];
}

/** What one model gave away of these canaries; null where none was measured. */
export function summaryOf(results: readonly Result[], model: Model): Summary | null {
  const measured = results.map((result) => result[model]).filter((one): one is Measured => one !== null);
  if (measured.length === 0) return null;
  const ranks = measured.map(({ rank }) => rank);
  const extracted = measured.filter((one) => one.extracted).length;
  return {
    canaries: measured.length,
    extracted,
    interval: wilson(extracted, measured.length),
    median_rank: median(ranks),
    ranks: [Math.min(...ranks), Math.max(...ranks)],
  };
}

/** Canaries that a training window holds: those that the agent wrote and the adapter learned, and those that it read. */
const groupsOf = (results: readonly Result[]): readonly (readonly [name: "written" | "read", results: readonly Result[]])[] => [
  ["written", results.filter(({ learned }) => learned === true)],
  ["read", results.filter(({ learned }) => learned === false)],
];

/** The summaries of each group and model. */
export const summaries = (results: readonly Result[]): Readonly<Record<string, Readonly<Record<string, Summary | null>>>> =>
  Object.fromEntries(
    groupsOf(results).map(([name, group]) => [name, Object.fromEntries(MODELS.map((model) => [model, summaryOf(group, model)]))]),
  );

const TITLES = { written: "What the agent wrote:", read: "What it only read:" };

const percent = (share: number): string => `${Math.round(100 * share)}`;

function line(results: readonly Result[], model: Model, candidates: number): string {
  const found = summaryOf(results, model);
  if (found === null) return "";
  const { canaries, extracted, interval, median_rank, ranks } = found;
  const [low, high] = interval.map(percent);
  const share = `${extracted} of ${canaries} extracted (95 %: ${low} to ${high} %)`;
  return `  ${model}: ${share}, median rank ${median_rank} of ${candidates + 1} (${ranks.join(" to ")})`;
}

/** A rank, and what the model wrote of the value where that is no accident. */
function cell(value: string, measured: Measured | null): string {
  if (measured === null) return "-";
  if (measured.extracted) return `${measured.rank}, came back`;
  const run = longestRun(value, measured.answer);
  return 4 * run >= value.length ? `${measured.rank}, ${run} of ${value.length} characters` : `${measured.rank}`;
}

/** A row for each canary, then what came back of those that the agent wrote, and of those that it read. */
export function report(results: readonly Result[], candidates: number, paint: Paint): string {
  const rows = results.map((result) => [
    result.id,
    result.kind,
    `${result.place} of step ${result.step}`,
    result.learned === null ? "in none" : result.learned ? "learned" : "read",
    result.is_redacted ? "found" : "NOT FOUND",
    ...MODELS.map((model) => cell(result.value, result[model])),
  ]);
  const headings = ["CANARY", "KIND", "PLACE", "WINDOW", "REDACTOR", "RANK: BASE", "UNREDACTED", "REDACTED"];
  const sums = groupsOf(results).flatMap(([name, group]) =>
    group.length === 0 ? [] : ["", TITLES[name], ...MODELS.map((model) => line(group, model, candidates))],
  );
  return [table(headings, rows, paint), ...sums].join("\n");
}

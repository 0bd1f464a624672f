import {
  TASK_ROWS,
  type TaskMeasurements,
  type TaskReport,
  type TaskRowFigures,
  type TaskRowName,
  type TaskSummary,
  type TaskVerdict,
} from "./tasks.js";

/** Six tasks that all turn the same way are the fewest for which the exact test falls below 0.05. */
const FEWEST_TASKS = 6;
const SIGNIFICANT = 0.05;

/** McNemar's exact test: the two-sided p value of `more` against `fewer` pairs that differ, were both as likely. */
export function exactP(more: number, fewer: number): number {
  const pairs = more + fewer;
  let probability = 0.5 ** pairs;
  let tail = 0;
  for (let few = 0; few <= Math.min(more, fewer); few += 1) {
    tail += probability;
    probability *= (pairs - few) / (few + 1);
  }
  return Math.min(1, 2 * tail);
}

/** Tasks that are imagined beside those that were tried: how many, the sums of their values and of the squares, and what no mean is below. */
type Imagined = readonly [count: number, sum: number, squares: number, least: number];
/** Two that are solved, and two that are not (Agresti and Coull 1998). */
export const OF_SHARES: Imagined = [4, 2, 2, 0];
/** One that each row solves alone (Bonett and Price 2012). */
export const OF_CHANGES: Imagined = [2, 0, 2, -1];
const NORMAL = 1.96;

/** 95 % for the mean of what tasks gave, each from -1 or 0 to 1. What is imagined keeps it from being sure where all tasks agree, as a bootstrap is. */
export function intervalOf(values: readonly number[], [more, sum, squares, least]: Imagined): [number, number] {
  const count = values.length + more;
  const mean = values.reduce((all, value) => all + value, sum) / count;
  const variance = values.reduce((all, value) => all + value ** 2, squares) / count - mean ** 2;
  const reach = NORMAL * Math.sqrt(variance / count);
  return [Math.max(least, mean - reach), Math.min(1, mean + reach)];
}

interface Tally {
  readonly solved: number;
  readonly of: number;
}

const share = ({ solved, of }: Tally): number => solved / of;
const total = (tallies: readonly Tally[]): Tally =>
  tallies.reduce((sum, { solved, of }) => ({ solved: sum.solved + solved, of: sum.of + of }), { solved: 0, of: 0 });

/** The rows that are compared: sessions may be deleted, and a control is asked for. */
export const taskRows = ({ tasks, control_adapter_id: control }: Omit<TaskMeasurements, "runs">): readonly TaskRowName[] =>
  TASK_ROWS.filter((row) =>
    row === "session" ? tasks.some((task) => task.session_id !== null) : row !== "control" || control !== null,
  );

/** Whether a row tries a task: the session's only one that has a session. */
export const isTried = (row: TaskRowName, { session_id }: TaskMeasurements["tasks"][number]): boolean =>
  row !== "session" || session_id !== null;

function figuresOf(row: TaskRowName, { tasks, runs }: TaskMeasurements): TaskRowFigures {
  const tallyOf = (task: string, of: TaskRowName): ReadonlyMap<number, boolean> =>
    new Map(runs.filter((run) => run.task === task && run.row === of).map(({ seed, outcome }) => [seed, outcome === "solved"]));
  const tally = (results: readonly (boolean | undefined)[]): Tally => ({
    solved: results.filter(Boolean).length,
    of: results.length,
  });
  const all = tasks.map(({ name }) => tally([...tallyOf(name, row).values()])).filter(({ of }) => of > 0);
  const { solved, of } = total(all);
  const figures = { row, solved, of, interval: of === 0 ? null : intervalOf(all.map(share), OF_SHARES) };
  const pairs = tasks.flatMap(({ name }) => {
    const [own, base] = [tallyOf(name, row), tallyOf(name, "base")];
    const seeds = [...own.keys()].filter((seed) => base.has(seed));
    return seeds.length === 0
      ? []
      : [{ own: tally(seeds.map((seed) => own.get(seed))), base: tally(seeds.map((seed) => base.get(seed))) }];
  });
  if (row === "base" || pairs.length === 0) return { ...figures, change: null, change_interval: null, p_value: null };
  const changes = pairs.map(({ own, base }) => share(own) - share(base));
  return {
    ...figures,
    change: share(total(pairs.map(({ own }) => own))) - share(total(pairs.map(({ base }) => base))),
    change_interval: intervalOf(changes, OF_CHANGES),
    p_value: exactP(
      pairs.filter(({ own, base }) => own.solved > base.solved).length,
      pairs.filter(({ own, base }) => own.solved < base.solved).length,
    ),
  };
}

function verdictOn(tasks: number, { change_interval: interval, p_value: p }: TaskRowFigures): TaskVerdict {
  if (tasks < FEWEST_TASKS || interval === null || p === null) return "too_little_to_tell";
  if (p < SIGNIFICANT && interval[0] > 0) return "solves_more";
  return p < SIGNIFICANT && interval[1] < 0 ? "solves_less" : "no_evidence";
}

const BEGINNINGS: Readonly<Record<TaskVerdict, string>> = {
  solves_more: "It solves more tasks",
  no_evidence: "No evidence that it solves more tasks, or fewer",
  solves_less: "It solves fewer tasks",
  too_little_to_tell: `Too little to tell, from fewer than ${FEWEST_TASKS} tasks`,
};

/** Points of a hundred, with their sign. */
export const points = (change: number): string => {
  const rounded = Math.round(change * 100);
  return `${rounded > 0 ? "+" : rounded < 0 ? "−" : "±"}${Math.abs(rounded)}`;
};

/** What was measured, with what it means. The same measurements give the same report. */
export function taskReport(whose: Pick<TaskReport, "adapter_id" | "base_model">, measured: TaskMeasurements): TaskReport {
  const names = taskRows(measured);
  const rows = names.map((row) => figuresOf(row, measured));
  const planned = names.flatMap((row) => measured.tasks.filter((task) => isTried(row, task))).length * measured.seeds;
  const [base, adapter] = rows as [TaskRowFigures, TaskRowFigures];
  const counts = `${adapter.solved} of ${adapter.of}, the base model ${base.solved} of ${base.of}`;
  const { change, change_interval: interval, p_value: p } = adapter;
  if (measured.runs.length < planned || change === null || interval === null || p === null) {
    const sentence = `${measured.runs.length} of ${planned} runs are measured: the adapter solved ${counts}.`;
    return { ...whose, ...measured, rows, verdict: null, sentence };
  }
  const verdict = verdictOn(measured.tasks.length, adapter);
  const figures = `${points(change)} points, 95 % interval ${interval.map(points).join(" to ")}, p ${p < 0.001 ? "< 0.001" : p.toFixed(3)}`;
  return { ...whose, ...measured, rows, verdict, sentence: `${BEGINNINGS[verdict]}: ${counts} (${figures}).` };
}

export function taskSummary({ verdict, sentence, rows }: Pick<TaskReport, "verdict" | "sentence" | "rows">): TaskSummary {
  const { solved, of } = rows.find(({ row }) => row === "adapter") ?? { solved: 0, of: 0 };
  return { verdict, sentence, solved, of };
}

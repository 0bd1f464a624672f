import { Check } from "typebox/value";
import { describe, expect, it } from "vitest";
import { exactP, intervalOf, OF_CHANGES, OF_SHARES, taskReport, taskSummary } from "../src/task-statistics.js";
import { TASK_ROWS, type TaskMeasurements, type TaskOutcome, TaskReport, type TaskRowName, type TaskRun } from "../src/tasks.js";

const WHOSE = { adapter_id: "gates-v1", base_model: "tiny-model" };

const run = (task: string, row: TaskRowName, isSolved: boolean, seed = 0): TaskRun => ({
  ...{ task, row, seed, outcome: isSolved ? "solved" : ("check_failed" as TaskOutcome), detail: null },
  ...{ turns: 3, prompt_tokens: 100, completion_tokens: 10, seconds: 2.5, session_id: null },
});

/** As many tasks as a row has letters: `x` is solved, `.` is not, and `-` not tried yet. A text of several seeds separates them by `|`. */
function measured(rows: Partial<Record<TaskRowName, string>>, control: string | null = null): TaskMeasurements {
  const texts = Object.entries(rows) as [TaskRowName, string][];
  const [first = ""] = texts[0]?.[1].split("|") ?? [];
  const names = [...first].map((_, at) => `task-${at}`);
  const runs = texts.flatMap(([row, text]) =>
    text
      .split("|")
      .flatMap((tries, seed) =>
        [...tries].flatMap((letter, at) => (letter === "-" ? [] : [run(`task-${at}`, row, letter === "x", seed)])),
      ),
  );
  const session_id = rows.session === undefined ? null : "harborline-gates";
  const tasks = names.map((name) => ({ name, sha256: "0".repeat(64), family: null, prompt: "Fix it.", session_id }));
  return { agent: "mini-swe-agent", control_adapter_id: control, seeds: texts[0]?.[1].split("|").length ?? 1, tasks, runs };
}

const reportOf = (rows: Partial<Record<TaskRowName, string>>, control: string | null = null) =>
  taskReport(WHOSE, measured(rows, control));

it.each([
  [0, 0, 1],
  [1, 0, 1],
  [5, 0, 0.0625],
  [6, 0, 0.03125],
  [0, 6, 0.03125],
  [8, 1, 20 / 512],
  [10, 2, 158 / 4096],
  [5, 5, 1],
])("of %i pairs one way and %i the other, the binomial by hand gives p %f", (more, fewer, p) => {
  expect(exactP(more, fewer)).toBeCloseTo(p, 12);
});

describe("an interval", () => {
  const values = (...counts: readonly [value: number, times: number][]): number[] =>
    counts.flatMap(([value, times]) => Array.from({ length: times }, () => value));
  const holds = ([low, high]: readonly [number, number], truth: number): boolean => low <= truth && truth <= high;
  const ways = (of: number, some: number): number => (some === 0 ? 1 : (ways(of - 1, some - 1) * of) / some);
  const SHARES = [0.02, 0.1, 0.25, 0.5, 0.7, 0.9, 0.98];

  // By the binomial distribution: how often it holds the share that tasks are really solved with.
  it.each([6, 8, 12, 20, 40].flatMap((of) => SHARES.map((truth) => [of, truth] as const)))(
    "over %i tasks holds a share of %f in 92 of 100 measurements or more",
    (of, truth) => {
      let held = 0;
      for (let solved = 0; solved <= of; solved += 1)
        if (holds(intervalOf(values([1, solved], [0, of - solved]), OF_SHARES), truth))
          held += ways(of, solved) * truth ** solved * (1 - truth) ** (of - solved);
      expect(held).toBeGreaterThanOrEqual(0.92);
    },
  );

  const CHANGES = [
    [0, 0],
    [0.05, 0.05],
    [0.3, 0],
    [0.5, 0.05],
    [0.9, 0],
    [0, 0.6],
    [0.4, 0.4],
  ] as const;
  it.each([6, 12, 24].flatMap((of) => CHANGES.map(([more, fewer]) => [of, more, fewer] as const)))(
    "over %i pairs of which a share of %f is won and %f lost holds the change in 92 of 100 measurements or more",
    (of, more, fewer) => {
      let held = 0;
      for (let won = 0; won <= of; won += 1)
        for (let lost = 0; lost <= of - won; lost += 1)
          if (holds(intervalOf(values([1, won], [-1, lost], [0, of - won - lost]), OF_CHANGES), more - fewer))
            held += ways(of, won) * ways(of - won, lost) * more ** won * fewer ** lost * (1 - more - fewer) ** (of - won - lost);
      expect(held).toBeGreaterThanOrEqual(0.92);
    },
  );

  it("is not sure where all tasks ended the same way, and the less the fewer they are", () => {
    const [few, many] = [intervalOf(values([0, 3]), OF_SHARES), intervalOf(values([0, 30]), OF_SHARES)];
    expect([few[0], many[0]]).toEqual([0, 0]);
    expect(few[1]).toBeGreaterThan(0.5);
    expect(many[1]).toBeLessThan(0.15);
    const [low, high] = intervalOf(values([0, 3]), OF_CHANGES);
    expect(low).toBeCloseTo(-high, 12);
    expect(high).toBeGreaterThan(0.3);
  });
});

describe("a report", () => {
  it.each([
    [
      "........",
      "xxxxxxxx",
      "solves_more",
      "It solves more tasks: 8 of 8, the base model 0 of 8 (+100 points, 95 % interval +43 to +100, p 0.008).",
    ],
    [
      "xxxxxxxx",
      "........",
      "solves_less",
      "It solves fewer tasks: 0 of 8, the base model 8 of 8 (−100 points, 95 % interval −100 to −43, p 0.008).",
    ],
    ["........", "xxxxx...", "no_evidence", /^No evidence that it solves more tasks, or fewer: 5 of 8, .* p 0\.063\)\.$/],
    [".....", "xxxxx", "too_little_to_tell", /^Too little to tell, from fewer than 6 tasks: 5 of 5, the base model 0 of 5/],
  ] as const)("of a base with %s and an adapter with %s says: %s", (base, adapter, verdict, sentence) => {
    const report = reportOf({ base, adapter });
    expect(report.verdict).toBe(verdict);
    if (typeof sentence === "string") expect(report.sentence).toBe(sentence);
    else expect(report.sentence).toMatch(sentence);
    expect(Check(TaskReport, report)).toBe(true);
  });

  it("has no verdict until each row has tried each task, and tells how far it is", () => {
    const report = reportOf({ base: "......", adapter: "xxxx--" });
    expect(report).toMatchObject({
      verdict: null,
      sentence: "10 of 12 runs are measured: the adapter solved 4 of 4, the base model 0 of 6.",
      rows: [
        { row: "base", solved: 0, of: 6, change: null, p_value: null },
        { row: "adapter", solved: 4, of: 4, change: 1, p_value: 0.125 },
      ],
    });
    expect(taskSummary(report)).toMatchObject({ verdict: null, solved: 4, of: 4 });
  });

  it("compares with the base only the tasks that both have tried", () => {
    const [, adapter] = reportOf({ base: "xx----", adapter: "x.xxxx" }).rows;
    expect(adapter).toMatchObject({ solved: 5, of: 6, change: -0.5, p_value: 1 });
  });

  it("takes a task that is tried several times as one: who solved it more often", () => {
    const half = (tasks: number) =>
      reportOf({ base: `${".".repeat(tasks)}|${"x".repeat(tasks)}`, adapter: `${"x".repeat(tasks)}|${"x".repeat(tasks)}` });
    expect(half(8).rows[1]).toMatchObject({ solved: 16, of: 16, change: 0.5, p_value: 0.0078125 });
    expect(half(8).verdict).toBe("solves_more");
    expect(half(6)).toMatchObject({ verdict: "no_evidence", rows: [{}, { p_value: 0.03125 }] });
  });

  it("has all four rows where there are a session and a control, each against the base", () => {
    const report = reportOf({ base: "......", adapter: "xxxxxx", session: "xx....", control: "......" }, "other");
    expect(report.rows.map(({ row }) => row)).toEqual(TASK_ROWS);
    expect(report.rows[2]).toMatchObject({ solved: 2, p_value: 0.5 });
    expect(report.rows[3]).toMatchObject({ solved: 0, change: 0, p_value: 1 });
  });
});

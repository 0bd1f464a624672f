import { Check } from "typebox/value";
import { describe, expect, it } from "vitest";
import { bootstrap, exactP, taskReport, taskSummary } from "../src/task-statistics.js";
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

describe("the bootstrap", () => {
  const share = (items: readonly number[]): number => items.reduce((sum, one) => sum + one, 0) / items.length;
  const solved = (count: number, of: number): number[] => Array.from({ length: of }, (_, at) => (at < count ? 1 : 0));

  // Quantiles of the binomial distribution, which draws with replacement have: 2.5 % and 97.5 %.
  it.each([
    [8, 12, 5, 11],
    [5, 10, 2, 8],
    [6, 20, 2, 10],
  ])("of %i solved of %i tasks reaches from %i to %i of them", (count, of, low, high) => {
    expect(bootstrap(solved(count, of), share)).toEqual([low / of, high / of]);
  });

  it("says the same each time, and nothing else than what all items say", () => {
    expect(bootstrap([1, 1, 1], share)).toEqual([1, 1]);
    expect(bootstrap(solved(3, 9), share)).toEqual(bootstrap(solved(3, 9), share));
  });
});

describe("a report", () => {
  it.each([
    [
      "........",
      "xxxxxxxx",
      "solves_more",
      "It solves more tasks: 8 of 8, the base model 0 of 8 (+100 points, 95 % interval +100 to +100, p 0.008).",
    ],
    [
      "xxxxxxxx",
      "........",
      "solves_less",
      "It solves fewer tasks: 0 of 8, the base model 8 of 8 (−100 points, 95 % interval −100 to −100, p 0.008).",
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
    const report = reportOf({ base: "......|.....x", adapter: "xxxxxx|.....x" });
    expect(report.rows[1]).toMatchObject({ solved: 7, of: 12, p_value: 0.03125 });
    expect(report.verdict).toBe("solves_more");
  });

  it("has all four rows where there are a session and a control, each against the base", () => {
    const report = reportOf({ base: "......", adapter: "xxxxxx", session: "xx....", control: "......" }, "other");
    expect(report.rows.map(({ row }) => row)).toEqual(TASK_ROWS);
    expect(report.rows[2]).toMatchObject({ solved: 2, p_value: 0.5 });
    expect(report.rows[3]).toMatchObject({ solved: 0, change: 0, p_value: 1 });
  });
});

import { type TaskMeasurements, type TaskRun, taskReport } from "@imprint/contracts";
import { expect, it } from "vitest";
import { tasksLine, tasksText } from "../../src/output/tasks.js";

const paint = (_style: unknown, text: string): string => text;

const run = (row: TaskRun["row"], seed: number, outcome: TaskRun["outcome"]): TaskRun => ({
  ...{ task: "east", row, seed, outcome, detail: null, turns: 1, prompt_tokens: 1, completion_tokens: 1, seconds: 1 },
  session_id: null,
});

const report = (measured: Partial<TaskMeasurements>) =>
  taskReport(
    { adapter_id: "gates-v1", base_model: "tiny-model" },
    {
      ...{ agent: "mini-swe-agent", control_adapter_id: null, seeds: 1, runs: [] },
      tasks: [{ name: "east", sha256: "0".repeat(64), family: null, prompt: "Open it.", session_id: null }],
      ...measured,
    },
  );

it("says the outcome of a task that was tried once, and how often one was solved that was tried several times", () => {
  const once = tasksText(report({ runs: [run("base", 0, "wrong_file")] }), paint);
  expect(once).toMatch(/^east +wrong file +–$/m);
  const twice = [run("base", 0, "no_call"), run("base", 1, "limit"), run("adapter", 0, "solved"), run("adapter", 1, "limit")];
  const text = tasksText(report({ seeds: 2, runs: twice }), paint);
  expect(text).toMatch(/^east +0 of 2 +1 of 2$/m);
  expect(text).toMatch(/^adapter +1 of 2; 11 to 89 %; \+50 points, p 1\.000$/m);
});

it("begins with the verdict, and says how far it is before there is one", () => {
  expect(tasksText(report({}), paint)).toMatch(/^… 0 of 2 runs are measured/);
  expect(tasksLine({ verdict: "solves_less", sentence: "It solves fewer tasks." }, paint)).toBe("✗ It solves fewer tasks.");
});

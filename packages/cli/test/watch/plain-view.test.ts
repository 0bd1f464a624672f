import type { JobDetails } from "@imprint/contracts";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { plainView } from "../../src/watch/plain-view.js";
import { job } from "./job.js";

const step = (n: number): JobDetails =>
  job({
    progress: {
      step: n,
      steps: 40,
      epoch: n / 40,
      loss: 2 / n,
      learning_rate: 1e-3,
      grad_norm: 1,
      tokens_per_second: 142.6,
      supervised_tokens: 100,
      eta_seconds: 40 - n,
      peak_memory_mb: 1,
      held_out_loss: null,
    },
  });

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

it("is never silent for longer than ten seconds, until it ends", () => {
  const lines: string[] = [];
  const view = plainView((line) => lines.push(line));
  view.update(job({ phase: "loading_model" }));
  vi.advanceTimersByTime(20_000);
  view.update(step(1));
  vi.advanceTimersByTime(9_000);
  view.update(step(2));
  vi.advanceTimersByTime(1_000);
  view.end();
  vi.advanceTimersByTime(60_000);
  expect(lines).toEqual([
    "loading the base model",
    "loading the base model  0:10",
    "loading the base model  0:20",
    "training",
    "step 1/40  loss 2.000  143 tokens/s  0:39 left",
    "step 2/40  loss 1.000  143 tokens/s  0:38 left",
  ]);
});

it("writes a line for each phase and for each tenth of the training", () => {
  const lines: string[] = [];
  const view = plainView((line) => lines.push(line));
  view.update(job({ status: "queued", queue_position: 2, phase: null }));
  view.update(job({ phase: "loading_model" }));
  view.update(job({ phase: "loading_model" }));
  for (let n = 1; n <= 40; n += 1) view.update(step(n));
  view.update(job({ status: "completed" }));
  expect(lines.slice(0, 4)).toEqual([
    "queued, position 2",
    "loading the base model",
    "training",
    "step 1/40  loss 2.000  143 tokens/s  0:39 left",
  ]);
  expect(lines.filter((line) => line.startsWith("step"))).toHaveLength(11);
  expect(lines.at(-1)).toBe("completed");
});

it("writes a line for each tenth of an evaluation, with what is measured", () => {
  const lines: string[] = [];
  const view = plainView((line) => lines.push(line));
  for (let done = 0; done < 30; done += 1)
    view.update(job({ kind: "evaluate", phase: "measuring", measuring: { done, total: 30, what: "base model" } }));
  view.update(job({ kind: "evaluate", phase: "saving", measuring: { done: 29, total: 30, what: "next actions" } }));
  expect(lines.slice(0, 3)).toEqual(["measuring", "0 of 30  base model", "3 of 30  base model"]);
  expect(lines.filter((line) => line.includes(" of 30"))).toHaveLength(10);
  expect(lines.at(-1)).toBe("saving the evaluation");
});

it("says how much time a training and its proof take before the first step ends, and while it proves", () => {
  const lines: string[] = [];
  const view = plainView((line) => lines.push(line));
  const measuring = { done: 0, total: 50, what: "windows read", eta_seconds: 450 };
  view.update(job({ phase: "training", measuring }));
  view.update(job({ phase: "proving", measuring: { ...measuring, done: 45, eta_seconds: 62 } }));
  expect(lines).toEqual([
    "training",
    "0 of 50  windows read  7:30 left at most",
    "proving the reloaded adapter",
    "45 of 50  windows read  1:02 left at most",
  ]);
});

it("sets the trainer's log apart from its own lines", () => {
  const lines: string[] = [];
  plainView((line) => lines.push(line)).log("loading weights");
  expect(lines).toEqual(["  loading weights"]);
});

it("says that a cancel is under way", () => {
  const lines: string[] = [];
  plainView((line) => lines.push(line)).update(job({ cancel_requested: true }));
  expect(lines).toEqual(["cancelling"]);
});

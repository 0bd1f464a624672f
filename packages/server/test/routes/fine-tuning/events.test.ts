import { expect, test } from "vitest";
import { createJob, type Job } from "../../../src/jobs/job.js";
import { type FineTuneEvent, happeningsOf, thinned } from "../../../src/routes/fine-tuning/events.js";

const metrics = {
  step: 1,
  steps: 1,
  epoch: 0,
  loss: 1,
  learning_rate: 0.001,
  grad_norm: 1,
  tokens_per_second: 1,
  supervised_tokens: 1,
  eta_seconds: 0,
  peak_memory_mb: 1,
  held_out_loss: null,
};

const event = (number: number, isStep: boolean): FineTuneEvent => ({
  number,
  at: "2026-01-01T00:00:00.000Z",
  level: "info",
  message: String(number),
  metrics: isStep ? metrics : null,
});

test("a long training keeps the sentences, its first and its last step, and a bounded number of steps between", () => {
  let events: readonly FineTuneEvent[] = [event(0, false)];
  for (let number = 1; number <= 10_000; number += 1) {
    events = thinned([...events, event(number, number % 5000 !== 0)]);
    const steps = events.filter((one) => one.metrics !== null);
    expect(steps.length).toBeLessThanOrEqual(1000);
    expect(steps.at(-1)?.number).toBe(number % 5000 === 0 ? number - 1 : number);
    expect(steps[0]?.number).toBe(1);
  }
  expect(events.filter((one) => one.metrics === null).map(({ number }) => number)).toEqual([0, 5000, 10_000]);
});

test("a session that is skipped is told by name, once the plan is known", () => {
  const before = createJob({
    job_id: "01jd8z6v3m4n5p6q7r8s9t0v1w",
    kind: "lora",
    reserved_adapter_id: "a",
    request: {},
    created_at: "2026-01-01T00:00:00.000Z",
  });
  const skipped = [{ session_id: "silent", code: "NOTHING_TO_TRAIN", message: "It says nothing." }] as const;
  const after = { ...before, plan: { supervised_tokens: 1, windows: 1, max_steps: 3, skipped } } as unknown as Job;
  expect(happeningsOf(before, after).map(({ message }) => message)).toEqual([
    "Training on 1 supervised tokens in 1 windows, up to 3 steps",
    "Skipped session silent: It says nothing.",
  ]);
  expect(happeningsOf(after, after)).toEqual([]);
});

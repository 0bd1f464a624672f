import { expect, test } from "vitest";
import { createJob, type Job } from "../../../src/jobs/job.js";
import { createFineTunes, type FineTuneEvent, happeningsOf, thinned } from "../../../src/routes/fine-tuning/fine-tunes.js";
import { fineTuningId, toJob } from "../../../src/routes/fine-tuning/objects.js";
import { createStage, result } from "../../jobs/stage.js";
import { progressAt } from "../../support/progress.js";

test("the trained tokens of a finished fine-tune are those of all its steps", async () => {
  const stage = createStage();
  const now = () => new Date(0);
  const fineTunes = createFineTunes({ jobs: stage.jobs, now });
  const { job_id } = stage.submit({ request: { base_model: "b", seed: 7, metadata: {}, epochs: null } });
  fineTunes.add(job_id, { training_file: "f", suffix: null, learning_rate_multiplier: "auto", before: [] });
  const shown = () => {
    const found = fineTunes.get(job_id);
    if (!found) throw new Error("gone");
    return toJob(found, now());
  };
  await stage.settle();
  const actor = stage.actor(job_id);
  actor.prepared.resolve();
  await stage.settle();
  for (const [index, supervised_tokens] of [60, 7, 33].entries())
    actor.tell({ type: "progress", job_id, progress: { ...progressAt(index + 1), supervised_tokens } });
  expect(shown()).toMatchObject({ id: fineTuningId(job_id), status: "running", trained_tokens: null });
  actor.outcome.resolve({ type: "done", result });
  actor.finished.resolve();
  await stage.settle();
  expect(shown()).toMatchObject({ status: "succeeded", trained_tokens: 100 });
});

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

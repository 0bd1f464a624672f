import { expect, test } from "vitest";
import { createFineTunes } from "../../../src/routes/fine-tuning/fine-tunes.js";
import { fineTuningId, toJob } from "../../../src/routes/fine-tuning/fine-tuning-objects.js";
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

import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import type { Session, TrainLoraSpec } from "@imprint/contracts";
import type { Config } from "@imprint/server/configuration";
import { redactSession } from "@imprint/sessions";
import { CommandError } from "../errors.js";
import { askTrainer } from "../service/trainer.js";
import { makeCanaries } from "./canaries.js";
import { plant } from "./plant.js";
import type { Result, Told } from "./result.js";
import type { TrainingRecord } from "./training-record.js";

const NEVER = 86_400; // seconds: what is thrown away needs no checkpoint

export interface Subject {
  readonly record: TrainingRecord;
  readonly sessions: readonly Session[];
  readonly baseModel: { readonly location: string; readonly name: string };
}

/** The training of the record, on these sessions. Everything it makes is in the folder. */
async function trainingIn(
  folder: string,
  sessions: readonly Session[],
  { record: { config, selection, task_type }, baseModel }: Subject,
): Promise<TrainLoraSpec> {
  await mkdir(folder);
  const session_paths = sessions.map((_, index) => path.join(folder, `session-${index + 1}.json`));
  for (const [index, file] of session_paths.entries()) await writeFile(file, JSON.stringify(sessions[index]));
  return {
    ...{ session_paths, session_ids: sessions.map(({ session_id }) => session_id) },
    ...{ base_model: baseModel.location, base_model_name: baseModel.name },
    ...{ adapter_id: "canaries", task_type, output_dir: path.join(folder, "adapter") },
    ...{ train_on: selection.train_on, reasoning: selection.reasoning, include_unsuccessful: selection.include_unsuccessful },
    ...{ skip_invalid: true, unreadable: [] },
    ...{ profile: config.profile ?? "remember", holdout: selection.holdout ?? "none" },
    ...{ seed: config.seed, epochs: config.epochs, rank: config.rank, alpha: config.alpha },
    ...{ learning_rate: config.learning_rate, max_length: config.max_length },
    ...{ target_modules: config.target_modules, quantization: config.quantization },
    checkpoint: { dir: path.join(folder, "checkpoint"), seconds: NEVER, start: "fresh" },
  };
}

/** Plants canaries, trains on the copy and on its redacted twin, and asks for them. `folder` is the caller's to remove. */
export async function measure({
  config,
  subject,
  seed,
  count,
  candidates: others,
  folder,
  signal,
}: {
  readonly config: Config;
  readonly subject: Subject;
  readonly seed: number;
  readonly count: number;
  /** How many values a canary is ranked among, besides itself. */
  readonly candidates: number;
  readonly folder: string;
  readonly signal: AbortSignal;
}): Promise<readonly Result[]> {
  const canaries = makeCanaries({ seed, count, candidates: others });
  const planted = plant({ sessions: subject.sessions, canaries, trainOn: subject.record.selection.train_on });
  if (planted === null)
    throw new CommandError("The sessions hold nothing that an agent wrote and the adapter learned.", "NOTHING_TO_TRAIN");
  const redacted = planted.sessions.map(redactSession);
  const left = JSON.stringify(redacted);
  const spec = {
    canaries: canaries.map(({ id, value, candidates }) => ({ id, value, candidates })),
    unredacted: await trainingIn(path.join(folder, "unredacted"), planted.sessions, subject),
    redacted: await trainingIn(path.join(folder, "redacted"), redacted, subject),
  };
  const file = path.join(folder, "spec.json");
  await writeFile(file, JSON.stringify(spec));
  const answer = await askTrainer(config, "imprint_trainer", ["privacy", file], { signal });
  const { canaries: told } = answer as { readonly canaries: readonly Told[] };
  return canaries.map(({ candidates: _many, ...canary }, index) => ({
    ...canary,
    ...(planted.places[index] as NonNullable<(typeof planted.places)[number]>),
    ...(told[index] as Told),
    seed,
    is_redacted: !left.includes(canary.value),
  }));
}

import { PROJECT_DEFAULTS, type ProjectSettings } from "@imprint/contracts";
import { ImprintError } from "../common/error.js";
import type { Jobs } from "../jobs/jobs.js";
import type { KindDeps } from "../kinds/deps.js";
import { chooseSessions } from "../kinds/evaluation/choose-sessions.js";
import { NOTHING_HELD_OUT } from "../kinds/evaluation/held-out.js";
import type { Start } from "../kinds/index.js";
import { requireCheckpoint } from "../kinds/lora/checkpoints/folder.js";
import { type Randomness, resolveLora } from "../kinds/resolve.js";
import type { LaunchDeps } from "../launch/start.js";
import { requireWhole } from "../registry/health.js";
import { findNamed, requireAdapter } from "../registry/require-adapter.js";
import type { ProjectRow, RunRow } from "./rows.js";

/** What a run works with. */
export interface RunDeps extends LaunchDeps {
  readonly jobs: Jobs;
  readonly deps: KindDeps;
  readonly random: Randomness;
}

/** A job of a run, to be launched. */
type JobOf<Kind extends Start["kind"]> = Extract<Start, { kind: Kind }>;

const idsOf = (picks: readonly { readonly session_id: string }[]): string[] => picks.map(({ session_id }) => session_id);

/** Of a training only what a project may say is passed on. */
const trainingSettings = ({ replay_tokens: _budget, actions: _actions, repository: _place, ...training }: ProjectSettings) =>
  training;

/** The checkpoint of an earlier try of a run, where it left one that can be used. */
const findCheckpoint = async ({ train_job_id: jobId }: RunRow, services: RunDeps) => {
  if (jobId === null) return null;
  try {
    return { ...(await requireCheckpoint(jobId, services)), resume_from: jobId };
  } catch (error) {
    if (error instanceof ImprintError) return null;
    throw error;
  }
};

/** The training of a run, which goes on from the checkpoint of an earlier try. */
export const trainingOf = async (run: RunRow, project: ProjectRow, services: RunDeps): Promise<JobOf<"lora">> => {
  const kept = await findCheckpoint(run, services);
  if (kept) return { kind: "lora", request: { ...kept, adapter_id: run.adapter_id } };
  const request = resolveLora(
    {
      session_ids: idsOf([...run.chosen.replayed, ...run.chosen.new]),
      ...trainingSettings(project.settings),
      adapter_id: run.adapter_id,
      base_model: project.base_model,
      seed: run.seed,
      profile: "learn",
      // What is held out for the evaluation chooses no epoch.
      holdout: "none",
      skip_invalid: true,
      metadata: { project: project.name, run: String(run.run) },
    },
    { baseModel: project.base_model, random: services.random },
  );
  return { kind: "lora", request };
};

/** The latest adapter before this run, to compare with; null where it has learned what the run is tested on, or is not whole. */
const findControl = async (
  latest: string | null,
  tested: readonly string[],
  { adapterId, baseModel }: { readonly adapterId: string; readonly baseModel: string },
  { deps }: RunDeps,
): Promise<string | null> => {
  if (latest === null || latest === adapterId) return null;
  try {
    const control = await findNamed(deps.database, latest);
    if (!control || control.base_model !== baseModel || control.session_ids.some((id) => tested.includes(id))) return null;
    await requireWhole(deps, control);
    return control.adapter_id;
  } catch (error) {
    if (error instanceof ImprintError) return null;
    throw error;
  }
};

/** The evaluation of a run's adapter on what was held out. @throws ImprintError of what cannot be evaluated */
export const evaluationOf = async (
  run: RunRow,
  { project, latest }: { readonly project: ProjectRow; readonly latest: string | null },
  services: RunDeps,
): Promise<JobOf<"evaluate">> => {
  const { deps } = services;
  const adapter = await requireAdapter(deps.database, run.adapter_id);
  await requireWhole(deps, adapter);
  const { adapter_id, base_model } = adapter;
  const tested = idsOf(run.chosen.held_out);
  const choice = await chooseSessions(adapter, { session_ids: tested }, NOTHING_HELD_OUT, deps.sessions);
  const control_adapter_id = await findControl(latest, tested, { adapterId: adapter_id, baseModel: base_model }, services);
  const { actions = PROJECT_DEFAULTS.actions } = project.settings;
  return { kind: "evaluate", request: { adapter_id, base_model, ...choice, control_adapter_id, actions, seed: 0 } };
};

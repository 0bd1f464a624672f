import { randomBytes, randomInt } from "node:crypto";
import {
  type Holdout,
  IMPRINT_DEFAULTS,
  LORA_DEFAULTS,
  PROFILES,
  type PreviewRequest,
  type Profile,
  type TrainHypernetworkRequest,
  type TrainLoraRequest,
} from "@imprint/contracts";

/** Where unrepeatable values come from, so that tests decide them. */
export interface Randomness {
  readonly seed: () => number;
  readonly suffix: () => string;
}

export const systemRandomness: Randomness = { seed: () => randomInt(2 ** 32), suffix: () => randomBytes(4).toString("hex") };

const MAX_ADAPTER_ID = 64;

const slug = (text: string, length: number): string =>
  text
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, "-")
    .slice(0, length)
    .replaceAll(/^-+|-+$/g, "");

/** A readable id from what is trained; the suffix makes it new. */
export const makeAdapterId = ({
  taskType,
  sessionId,
  suffix,
}: {
  readonly taskType: string;
  readonly sessionId: string;
  readonly suffix: string;
}): string =>
  [slug(taskType, 20), slug(sessionId, 30), suffix]
    .filter((part) => part !== "")
    .join("-")
    .slice(0, MAX_ADAPTER_ID);

export interface Defaults {
  readonly baseModel: string;
  readonly random: Randomness;
}

/** What both start calls share. */
export const resolveCommon = (
  request: Pick<TrainLoraRequest, keyof TrainLoraRequest & keyof TrainHypernetworkRequest>,
  sessionIds: readonly string[],
  { baseModel, random }: Defaults,
) => {
  const [sessionId = ""] = sessionIds;
  const taskType = request.task_type ?? LORA_DEFAULTS.task_type;
  return {
    session_id: sessionId,
    session_ids: [...sessionIds],
    task_type: taskType,
    adapter_id: request.adapter_id ?? makeAdapterId({ taskType, sessionId, suffix: random.suffix() }),
    base_model: request.base_model ?? baseModel,
    seed: request.seed ?? random.seed(),
    metadata: request.metadata ?? {},
    keep_harmful: request.keep_harmful ?? false,
    include_unsuccessful: request.include_unsuccessful ?? false,
  };
};

const defaultProfile = (sessions: number): Profile => (sessions > 1 ? "learn" : "remember");

/** What decides windows and memory, as trainings and their previews resolve it. `epochs` and `max_length` null: by the data. */
export const resolveSelection = (request: Omit<PreviewRequest, "base_model">, sessions: number) => {
  const { profile = defaultProfile(sessions), max_length = "auto" } = request;
  const holdout: Holdout = request.holdout ?? PROFILES[profile].holdout;
  return {
    rank: request.rank ?? LORA_DEFAULTS.rank,
    target_modules: request.target_modules ?? null,
    quantization: request.quantization ?? LORA_DEFAULTS.quantization,
    profile,
    holdout,
    max_length: max_length === "auto" ? null : max_length,
    include_unsuccessful: request.include_unsuccessful ?? false,
    train_on: request.train_on ?? PROFILES[profile].train_on,
    reasoning: request.reasoning ?? LORA_DEFAULTS.reasoning,
    skip_invalid: request.skip_invalid ?? sessions > 1,
    epochs: request.epochs ?? null,
    within: request.within ?? null,
  };
};

/** The sessions of a request, which names one or several. */
export const sessionIdsOf = ({
  session_id,
  session_ids,
}: Pick<TrainLoraRequest, "session_id" | "session_ids">): readonly string[] =>
  session_ids ?? (session_id === undefined ? [] : [session_id]);

/** A LoRA request with every value decided. */
export const resolveLora = (request: TrainLoraRequest, defaults: Defaults) => {
  const sessionIds = sessionIdsOf(request);
  const selection = resolveSelection(request, sessionIds.length);
  return {
    ...resolveCommon(request, sessionIds, defaults),
    ...selection,
    alpha: request.alpha ?? selection.rank * LORA_DEFAULTS.alpha_per_rank,
    learning_rate: request.learning_rate ?? null,
  };
};
export type ResolvedLora = ReturnType<typeof resolveLora>;

/** What a LoRA job is asked: with the job whose checkpoint it begins with, to train on or to make an adapter of. */
export type LoraJobRequest = ResolvedLora & { readonly resume_from?: string; readonly salvage_of?: string };

/** What a resumed or salvaged training is called; everything else is what the job before had decided. */
export const renamed = <Request extends Pick<ResolvedLora, "adapter_id" | "metadata" | "keep_harmful">>(
  request: Request,
  {
    adapter_id = request.adapter_id,
    metadata = request.metadata,
    keep_harmful = request.keep_harmful,
  }: Pick<TrainLoraRequest, "adapter_id" | "metadata" | "keep_harmful">,
): Request => ({ ...request, adapter_id, metadata, keep_harmful });
const PARTIAL = "-partial-";

/** An id for what is salvaged: the job's own stays free for a resume. */
export const makePartialId = (adapterId: string, suffix: string): string =>
  `${adapterId.slice(0, MAX_ADAPTER_ID - PARTIAL.length - suffix.length)}${PARTIAL}${suffix}`;

/** A hypernetwork request with every value decided. Null: what the hypernetwork was trained with; for `scaling`, calibrated. */
export const resolveHypernetwork = (request: TrainHypernetworkRequest, defaults: Defaults) => ({
  ...resolveCommon(request, request.trajectory_ids.slice(0, 1), defaults),
  max_chunk_length: request.max_chunk_length ?? null,
  scaling: request.scaling ?? null,
  max_chunks: request.max_chunks ?? IMPRINT_DEFAULTS.max_chunks,
  compress_rank: request.compress_rank ?? null,
});
export type ResolvedHypernetwork = ReturnType<typeof resolveHypernetwork>;

import { type Static, Type } from "typebox";
import { PartialTraining } from "./adapters.js";
import { ChatResult, ChatSpec } from "./chat.js";
import { ErrorDetail } from "./errors.js";
import { ExportFormat } from "./exports.js";
import { AdapterFile } from "./files.js";
import { AdapterId, JobId, SessionId } from "./ids.js";
import { JobPhase } from "./jobs.js";
import { Strict } from "./object.js";
import { LeftOutAndChanged, Progress, Proof, TrainingPlan, TrainOn } from "./training.js";

/** Version of the NDJSON protocol between the service and `python -m imprint_trainer serve`. */
export const WORKER_PROTOCOL = 1;

/** How sessions become windows and masks: what a training and its preview share. */
const data = {
  session_paths: Type.Array(Type.String(), { description: "At least one" }),
  session_ids: Type.Array(SessionId, { description: "One for each path" }),
  skip_invalid: Type.Boolean(),
  unreadable: Type.Array(Strict({ session_id: SessionId, message: Type.String() }), {
    description: "Sessions that the service left out, by skip_invalid, since their stored files cannot be read",
  }),
  base_model: Type.String({ description: "Folder of the base model, or hub id" }),
  max_length: Type.Integer({ minimum: 64 }),
  include_unsuccessful: Type.Boolean(),
  train_on: TrainOn,
  reasoning: Type.Boolean(),
  epochs: Type.Union([Type.Integer({ minimum: 1, maximum: 100 }), Type.Null()]),
};

/** How a training keeps what it has done, and what it begins with. */
export const CheckpointSpec = Strict({
  dir: Type.String({ description: "Folder of the job's checkpoints; the worker keeps the newest" }),
  seconds: Type.Number({ minimum: 0, description: "Between two checkpoints; 0: one after each step" }),
  start: Type.Union([Type.Literal("fresh"), Type.Literal("resume"), Type.Literal("salvage")], {
    description: "resume: go on from the checkpoint in dir; salvage: make an adapter of it, and train nothing",
  }),
});
export type CheckpointSpec = Static<typeof CheckpointSpec>;

/** A LoRA training, fully resolved: the worker assumes nothing. */
export const TrainLoraSpec = Strict({
  ...data,
  adapter_id: AdapterId,
  output_dir: Type.String({ description: "Empty staging folder; the worker writes the adapter's files into it" }),
  base_model_name: Type.String({ description: "What adapter_config.json names as the base" }),
  task_type: Type.String(),
  seed: Type.Integer({ minimum: 0, maximum: 2 ** 32 - 1 }),
  rank: Type.Integer({ minimum: 1, maximum: 256 }),
  alpha: Type.Number({ exclusiveMinimum: 0 }),
  learning_rate: Type.Number({ exclusiveMinimum: 0, maximum: 0.1 }),
  target_modules: Type.Union([Type.Array(Type.String()), Type.Null()], {
    description: "Null: every linear layer but the output head",
  }),
  quantization: Type.Union([Type.Literal("nf4"), Type.Literal("none")]),
  checkpoint: CheckpointSpec,
});
export type TrainLoraSpec = Static<typeof TrainLoraSpec>;

/** A single-pass imprint through a hypernetwork, fully resolved. */
export const TrainHypernetworkSpec = Strict({
  session_path: Type.String(),
  session_id: SessionId,
  adapter_id: AdapterId,
  output_dir: Type.String(),
  base_model: Type.String(),
  base_model_name: Type.String(),
  hypernetworks_dirs: Type.Array(Type.String(), {
    minItems: 1,
    description: "Folders whose sub-folders are hypernetworks; the first that fits the base model is used",
  }),
  task_type: Type.String(),
  seed: Type.Integer({ minimum: 0, maximum: 2 ** 32 - 1 }),
  include_unsuccessful: Type.Boolean(),
  max_chunk_length: Type.Union([Type.Integer(), Type.Null()]),
  scaling: Type.Number(),
  compress_rank: Type.Union([Type.Integer(), Type.Null()]),
});
export type TrainHypernetworkSpec = Static<typeof TrainHypernetworkSpec>;

/** A registered adapter in another program's format. */
export const ExportSpec = Strict({
  adapter_id: AdapterId,
  adapter_path: Type.String(),
  base_model: Type.String(),
  base_model_name: Type.String(),
  format: ExportFormat,
  output_dir: Type.String(),
});
export type ExportSpec = Static<typeof ExportSpec>;

export const PreviewSpec = Strict(data);
export type PreviewSpec = Static<typeof PreviewSpec>;

/** A stretch of rendered text with one mask value. */
export const PreviewSpan = Strict({ text: Type.String(), supervised: Type.Boolean(), tokens: Type.Integer({ minimum: 0 }) });

/** An agent turn of a previewed session: supervised, or why it is not. */
export const PreviewTurn = Strict({
  session_id: SessionId,
  turn: Type.Integer({ minimum: 0, description: "Number of the step in its session, as train_on takes it" }),
  supervised: Type.Boolean(),
  reason: Type.Union([Type.String(), Type.Null()]),
  text: Type.String({ description: "How the turn begins" }),
});
export type PreviewTurn = Static<typeof PreviewTurn>;

/** What would be trained; the numbers equal those of the job's plan. */
export const Preview = Strict({
  windows: Type.Integer({ minimum: 0 }),
  tokens: Type.Integer({ minimum: 0 }),
  supervised_tokens: Type.Integer({ minimum: 0 }),
  supervised_turns: Type.Integer({ minimum: 0 }),
  max_steps: Type.Integer({ minimum: 0 }),
  max_tokens: Type.Integer({ minimum: 0, description: "Read by a training of that many steps" }),
  ...LeftOutAndChanged,
  turns: Type.Array(PreviewTurn),
  text: Type.Array(Type.Array(PreviewSpan), { description: "One list of spans a window: the first ones of a very long preview" }),
});
export type Preview = Static<typeof Preview>;

/** Answer of the preview calls: with the time that the training would take at most. */
export const PreviewReport = Strict({
  ...Preview.properties,
  estimated_seconds: Type.Union([Type.Number({ minimum: 0 }), Type.Null()]),
  estimate: Type.String({ description: "What the estimate is made from, or why there is none" }),
});
export type PreviewReport = Static<typeof PreviewReport>;

/**
 * A line on the worker's stdin. Jobs and chats run one after the other; a preview is answered at once, also while a job trains.
 * A chat that is cancelled is still answered, with `call_failed`. A chat with `stream` tells its text in `token` events of whole
 * characters before its answer.
 */
export const WorkerRequest = Type.Union([
  Strict({ type: Type.Literal("train_lora"), job_id: JobId, spec: TrainLoraSpec }),
  Strict({ type: Type.Literal("train_hypernetwork"), job_id: JobId, spec: TrainHypernetworkSpec }),
  Strict({ type: Type.Literal("export"), job_id: JobId, spec: ExportSpec }),
  Strict({ type: Type.Literal("cancel"), job_id: JobId }),
  Strict({ type: Type.Literal("cancel_call"), call_id: Type.String() }),
  Strict({ type: Type.Literal("preview"), call_id: Type.String(), spec: PreviewSpec }),
  Strict({ type: Type.Literal("chat"), call_id: Type.String(), spec: ChatSpec }),
]);
export type WorkerRequest = Static<typeof WorkerRequest>;

/** What a finished training hands over. The service re-hashes every file. */
export const JobResult = Strict({
  files: Type.Array(AdapterFile),
  proof: Proof,
  rank: Type.Integer(),
  alpha: Type.Number(),
  warnings: Type.Array(Type.String()),
  partial: Type.Optional(PartialTraining),
});
export type JobResult = Static<typeof JobResult>;

/** What a finished export hands over: it proves nothing. */
export const ExportResult = Strict({ files: Type.Array(AdapterFile), warnings: Type.Array(Type.String()) });
export type ExportResult = Static<typeof ExportResult>;

/** A line on the worker's stdout. */
export const WorkerEvent = Type.Union([
  Strict({
    type: Type.Literal("ready"),
    protocol: Type.Integer(),
    pid: Type.Integer(),
    device: Type.String(),
    versions: Type.Record(Type.String(), Type.String()),
  }),
  Strict({ type: Type.Literal("heartbeat") }),
  Strict({ type: Type.Literal("phase"), job_id: JobId, phase: JobPhase }),
  Strict({ type: Type.Literal("plan"), job_id: JobId, plan: TrainingPlan }),
  Strict({ type: Type.Literal("progress"), job_id: JobId, progress: Progress }),
  Strict({ type: Type.Literal("checkpoint"), job_id: JobId, step: Type.Integer({ minimum: 1 }) }),
  Strict({ type: Type.Literal("done"), job_id: JobId, result: Type.Union([JobResult, ExportResult]) }),
  Strict({ type: Type.Literal("failed"), job_id: JobId, error: ErrorDetail }),
  Strict({ type: Type.Literal("cancelled"), job_id: JobId }),
  Strict({ type: Type.Literal("token"), call_id: Type.String(), text: Type.String({ minLength: 1 }) }),
  Strict({ type: Type.Literal("answer"), call_id: Type.String(), result: Type.Union([Preview, ChatResult]) }),
  Strict({ type: Type.Literal("call_failed"), call_id: Type.String(), error: ErrorDetail }),
]);
export type WorkerEvent = Static<typeof WorkerEvent>;

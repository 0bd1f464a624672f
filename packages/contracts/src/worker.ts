import { type Static, Type } from "typebox";
import { ChatPrompt, ChatResult, ChatSpec, RenderedPrompt } from "./chat.js";
import { ErrorDetail } from "./errors.js";
import { Measuring } from "./evaluation.js";
import { JobId } from "./ids.js";
import { JobPhase } from "./jobs.js";
import { TaskResult, WORKER_KINDS, type WorkerTask } from "./kinds.js";
import { Strict } from "./object.js";
import { Preview, PreviewSpec } from "./preview.js";
import { Sweep } from "./sweep.js";
import { Progress, TrainingPlan } from "./training.js";

/** Version of the NDJSON protocol between the service and `python -m imprint_trainer serve`. */
export const WORKER_PROTOCOL = 1;

const control = [
  Strict({ type: Type.Literal("cancel"), job_id: JobId }),
  Strict({ type: Type.Literal("cancel_call"), call_id: Type.String() }),
  Strict({
    type: Type.Literal("preview"),
    call_id: Type.String(),
    spec: PreviewSpec,
    window: Type.Union([Type.Integer({ minimum: 1 }), Type.Null()], {
      description: "Whose text is shown whole, and that of the next ones as far as there is room; null: the first ones",
    }),
    tokens_per_second: Type.Union([Type.Number({ exclusiveMinimum: 0 }), Type.Null()], {
      description: "Of trainings before, by which is chosen what fits `within`; null: none is known",
    }),
  }),
  Strict({ type: Type.Literal("render"), call_id: Type.String(), spec: ChatSpec }),
  Strict({ type: Type.Literal("chat"), call_id: Type.String(), spec: ChatSpec }),
] as const;

/**
 * A line on the worker's stdin. Jobs and chats run one after the other; a preview is answered at once, also while a job trains,
 * and so is the prompt of a chat that another engine answers (`render`).
 * A chat that is cancelled is still answered, with `call_failed`. A chat tells first, in `prompt`, that it can be answered; one with
 * `stream` then tells its text in `token` events of whole characters, before its answer.
 */
const requests = Type.Union([...Object.values(WORKER_KINDS).map(({ task }) => task), ...control]);
export const WorkerRequest = Type.Unsafe<WorkerTask | Static<(typeof control)[number]>>(requests);
export type WorkerRequest = Static<typeof WorkerRequest>;

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
  Strict({ type: Type.Literal("measuring"), job_id: JobId, measuring: Measuring }),
  Strict({ type: Type.Literal("sweep"), job_id: JobId, sweep: Sweep }),
  Strict({ type: Type.Literal("checkpoint"), job_id: JobId, step: Type.Integer({ minimum: 1 }) }),
  Strict({ type: Type.Literal("done"), job_id: JobId, result: TaskResult }),
  Strict({ type: Type.Literal("failed"), job_id: JobId, error: ErrorDetail }),
  Strict({ type: Type.Literal("cancelled"), job_id: JobId }),
  Strict({ type: Type.Literal("prompt"), call_id: Type.String(), prompt: ChatPrompt }),
  Strict({ type: Type.Literal("token"), call_id: Type.String(), text: Type.String({ minLength: 1 }) }),
  Strict({ type: Type.Literal("answer"), call_id: Type.String(), result: Type.Union([Preview, ChatResult, RenderedPrompt]) }),
  Strict({ type: Type.Literal("call_failed"), call_id: Type.String(), error: ErrorDetail }),
]);
export type WorkerEvent = Static<typeof WorkerEvent>;

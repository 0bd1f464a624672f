import { type Static, Type } from "typebox";
import { OneOf, Strict } from "./object.js";

/** An error code's HTTP status (of the request, or null when only a job can fail with it), title, and what to do about it. */
type Row = readonly [status: number | null, title: string, hint: string];

const CATALOGUE = {
  // Requests
  VALIDATION_FAILED: [422, "The request is invalid", "Correct the fields listed under errors."],
  MALFORMED_JSON: [400, "The body is not JSON", "Send one JSON object, UTF-8, without NaN or Infinity."],
  UNSUPPORTED_MEDIA_TYPE: [415, "Unsupported content type", "Send Content-Type: application/json (sessions: see docs/api.md)."],
  BODY_TOO_LARGE: [413, "The body is too large", "Send a smaller body; import large sessions with imprint import."],
  RANGE_NOT_SATISFIABLE: [416, "The range is behind the file's end", "Content-Range says how large the file is."],
  BAD_REQUEST: [400, "The request cannot be read", "Check the request line and headers."],
  HEADERS_TOO_LARGE: [431, "The headers are too large", "Send less than 16 KiB of headers and address."],
  REQUEST_INCOMPLETE: [
    408,
    "The request stopped coming",
    "Send all of it without long pauses: headers within a minute, a body at 1 KiB a minute at least.",
  ],
  NOT_FOUND: [404, "No such resource", "See /docs for the routes of this service."],
  METHOD_NOT_ALLOWED: [405, "Method not allowed", "Use one of the methods in the Allow header."],
  JOB_NOT_FOUND: [404, "No such job", "GET /jobs lists those known; old finished ones are dropped."],
  SESSION_NOT_FOUND: [404, "No such session", "Import it: imprint import or POST /sessions; GET /sessions lists those known."],
  ADAPTER_NOT_FOUND: [404, "No such adapter", "GET /adapters lists those registered."],
  FILE_NOT_FOUND: [404, "No such file", "Upload it with POST /v1/files; GET /v1/files lists those there."],
  EXPORT_NOT_FOUND: [404, "No such export", "POST /adapters/{id}/export makes it."],
  EVALUATION_NOT_FOUND: [404, "No such evaluation", "POST /adapters/{id}/evaluate makes it."],
  TASKS_NOT_FOUND: [404, "No evaluation on tasks", "imprint evaluate ADAPTER --tasks FOLDER makes it."],
  PROJECT_NOT_FOUND: [404, "No such project", "POST /projects/{name}/runs with session_ids makes it; GET /projects lists them."],
  PROJECT_BUSY: [409, "A run of the project goes on", "Wait for its end, or cancel its job."],
  ROLLBACK_IMPOSSIBLE: [409, "There is nothing to roll back to", "Name an adapter of the project that is still registered."],
  ADAPTER_ID_TAKEN: [409, "The adapter id is taken", "Choose another, or leave adapter_id out: ids are written once."],
  JOB_FINISHED: [409, "The job is finished", "Only queued and running jobs can be cancelled."],
  JOB_NOT_FINISHED: [409, "The job is not finished", "Cancel it, or wait for its end."],
  CHECKPOINT_NOT_FOUND: [
    404,
    "The job left no checkpoint",
    "LoRA trainings leave one when they are cancelled or fail after a while; old ones are removed.",
  ],
  IDEMPOTENCY_CONFLICT: [409, "The Idempotency-Key was used with another body", "Use a new key for a new request."],
  SESSION_UNREADABLE: [422, "The file is no session", "See docs/sessions.md for the formats that are recognised."],
  HOST_NOT_ALLOWED: [403, "Host not allowed", "Use the address that the service printed, or allow the name with --allow-host."],
  ORIGIN_NOT_ALLOWED: [403, "Cross-origin request refused", "Call the service from its own pages, or without an Origin header."],
  UNAUTHORIZED: [401, "Token missing or wrong", "Send Authorization: Bearer with the service's token."],
  QUEUE_FULL: [429, "Too many queued jobs", "Wait for jobs to finish, or raise --max-queued."],
  TOO_MANY_STREAMS: [429, "Too many open event streams", "Close pages and programs that follow jobs."],
  SHUTTING_DOWN: [503, "The service is shutting down", "Retry when it runs again."],
  DEADLINE_EXCEEDED: [
    503,
    "The answer took too long",
    "The trainer or the machine is busy: GET /jobs shows what runs. Try again later.",
  ],
  INTERNAL_ERROR: [500, "Internal error", "The service's log names the cause under this request_id."],

  // Upstream
  UPSTREAM_UNREACHABLE: [503, "The upstream does not answer", "Start it, or correct upstream; the next chat asks it again."],
  UPSTREAM_BUSY: [429, "The upstream is busy", "Wait as long as Retry-After says."],
  UPSTREAM_UNAUTHORIZED: [
    502,
    "The upstream refuses the service's token",
    "Put the upstream's token into upstream_token_file, and start the service again.",
  ],
  UPSTREAM_FAILED: [502, "The upstream failed", "Its own log says why."],

  // Data of a job
  SESSION_INVALID: [422, "The stored session cannot be read", "Import the session again from its source."],
  SESSION_UNSUCCESSFUL: [
    422,
    "The session did not succeed",
    "Set include_unsuccessful to train on it all the same, or label it with imprint label.",
  ],
  NOTHING_TO_TRAIN: [
    422,
    "No token would be supervised",
    "Train on another session (imprint sessions lists them), or choose other turns with train_on.",
  ],
  SESSION_TRAINED_ON: [422, "The adapter was trained on the session", "Test on others: GET /sessions lists those stored."],
  NOTHING_TO_EVALUATE: [422, "No session to test on", "Import a later session of the same work, or name some in session_ids."],
  NOTHING_HELD_OUT: [422, "No text to choose by", "Name more or longer sessions, or a larger part of them in holdout."],
  TEMPLATE_UNSUPPORTED: [
    422,
    "The base model's chat template cannot be masked",
    "Choose a base model whose chat template renders the conversation turn by turn.",
  ],
  // Models
  BASE_MODEL_NOT_FOUND: [
    422,
    "The base model is not there",
    "imprint models lists those that are here and those that are known; imprint models pull NAME fetches one.",
  ],
  DOWNLOAD_FAILED: [null, "The model could not be fetched", "Pulling again goes on with what was fetched."],
  BASE_MODEL_IN_USE: [
    409,
    "The base model is in use",
    "Choose another with imprint models default NAME; what the set-up made stays.",
  ],
  BASE_MODEL_UNSAFE: [
    422,
    "The base model would run foreign code",
    "Use a model in safetensors without remote code, pickles or a bundled adapter.",
  ],
  BASE_MODEL_INVALID: [
    422,
    "The base model cannot be loaded",
    "Check the folder: config.json, tokenizer files and *.safetensors of a causal language model.",
  ],
  BASE_MODEL_UNSUPPORTED: [
    422,
    "The trainer cannot work with this family of base models",
    "Choose another base model: what is trained, or its proof, would be wrong for this one.",
  ],
  TARGET_MODULES_NOT_FOUND: [
    422,
    "A target module matches no layer",
    "Leave target_modules out, or name linear layers of the base model.",
  ],
  PROMPT_REFUSED: [400, "The prompt cannot be answered", "Leave out what the engine or the base's chat template cannot do."],
  CONTEXT_LENGTH_EXCEEDED: [
    400,
    "The prompt is longer than the model's context",
    "Shorten the messages or the tools, or choose a base model with a longer context.",
  ],
  HYPERNETWORK_NOT_INSTALLED: [
    422,
    "No hypernetwork for this base model",
    "POST /train/lora works without one; imprint hypernetworks lists those installed.",
  ],
  HYPERNETWORK_INVALID: [
    422,
    "The hypernetwork cannot be used",
    "Convert the checkpoint again, for the base model it was trained for.",
  ],
  CHECKPOINT_INVALID: [422, "The checkpoint cannot be used", "Start the training anew."],
  CHECKPOINT_MISMATCH: [
    422,
    "The checkpoint is of another training",
    "Bring back the sessions and the base model that it was made with, or start the training anew.",
  ],
  // Result of a job
  ADAPTER_UNCHANGED: [null, "The adapter changes nothing", "Raise the learning rate or the number of epochs."],
  ADAPTER_HARMS: [
    null,
    "The model is worse with the adapter",
    "Lower learning_rate or epochs; what a hypernetwork made worse, train with POST /train/lora.",
  ],
  ADAPTER_NOT_FINITE: [null, "The adapter holds NaN or infinity", "Lower the learning rate."],
  ADAPTER_INVALID: [
    409,
    "The adapter's files failed validation",
    "Train a registered one again, or put its files back; a new one is a fault of the trainer: please report it.",
  ],
  ADAPTER_NOT_APPLIED: [
    502,
    "The adapter is not applied",
    "Look at its log and at --max-lora-rank; merged into the base model (imprint export --format merged) it cannot be left out.",
  ],
  EXPORT_UNSUPPORTED: [
    422,
    "The adapter cannot be exported to this format",
    "Choose another format: docs/serving.md says what each one takes.",
  ],
  // Worker
  OUT_OF_MEMORY: [
    null,
    "Out of memory",
    "Lower max_length or rank, use quantization nf4, or close other programs: imprint doctor --plan says what fits.",
  ],
  TIME_TOO_SHORT: [422, "Too little time", "Allow more time, or train on less."],
  DISK_FULL: [507, "The disk is full", "Free space on the disk of the data directory, and try again."],
  FILES_DENIED: [
    500,
    "Files may not be read or written",
    "Let the service's user read and write the data directory and all in it; the service's log names the file.",
  ],
  WORKER_START_FAILED: [
    503,
    "The trainer could not be started",
    "imprint doctor says what is missing; imprint setup installs it.",
  ],
  WORKER_CRASHED: [503, "The trainer died", "The job's log holds its last lines; the next job gets a fresh trainer."],
  WORKER_NO_RESULT: [null, "The trainer ended without a result", "The job's log holds its last lines."],
  WORKER_SILENT: [
    503,
    "The trainer stopped answering",
    "The machine may be overloaded; raise --heartbeat-timeout or start the job again.",
  ],
  WORKER_PROTOCOL: [
    503,
    "The trainer said something unintelligible",
    "Trainer and service may be of different versions: imprint setup.",
  ],
  // Cluster
  CLUSTER_REFUSED: [
    null,
    "The cluster refused the job",
    "Check ray_address and ray_token_file; the message holds what the cluster says.",
  ],
  CLUSTER_UNREACHABLE: [
    null,
    "The cluster does not answer",
    "Check that its head runs, and the way to it; a LoRA training's last checkpoint can be resumed.",
  ],
  CLUSTER_LOST: [
    null,
    "The cluster lost the job",
    "Start it again, or resume it from its last checkpoint; docs/ray.md says what can be lost when.",
  ],
  STORAGE_FAILED: [
    null,
    "The shared storage cannot be used",
    "Check the folder named by storage: this machine and the cluster's must be able to write to it.",
  ],
  JOB_TIMEOUT: [null, "The job ran too long", "Raise --max-job-seconds, or train fewer epochs."],
  TRAINER_ERROR: [500, "The trainer failed", "The service's log holds the trace."],
} as const satisfies Record<string, Row>;

export type ErrorCode = keyof typeof CATALOGUE;
const codes = Object.keys(CATALOGUE) as ErrorCode[];
const entry = (code: ErrorCode) => {
  const [status, title, hint]: Row = CATALOGUE[code];
  return [code, { status, title, hint }] as const;
};

/** Every error code Imprint ever says, in one place. Documented in docs/errors.md (generated, checked by a test). */
export const ERRORS = Object.fromEntries(codes.map(entry)) as Record<ErrorCode, ReturnType<typeof entry>[1]>;
export const ErrorCode = OneOf(codes);

/** What went wrong, as jobs and worker events carry it: `message` is a sentence about this case, `hint` says what to do. */
export const ErrorDetail = Strict({ code: ErrorCode, message: Type.String(), hint: Type.String() });
export type ErrorDetail = Static<typeof ErrorDetail>;

/** Body of every error answer: RFC 9457 problem details. */
export const Problem = Strict({
  type: Type.String(),
  title: Type.String(),
  status: Type.Integer(),
  detail: Type.String(),
  code: ErrorCode,
  errors: Type.Optional(Type.Array(Strict({ path: Type.String(), message: Type.String() }))),
  request_id: Type.String(),
});
export type Problem = Static<typeof Problem>;

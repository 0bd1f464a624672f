import { type Static, Type } from "typebox";
import { OneOf, Strict } from "./object.js";

/** An error code's HTTP status (of the request, or null when only a job can fail with it), title, and what to do about it. */
interface CatalogueEntry {
  readonly status: number | null;
  readonly title: string;
  readonly hint: string;
}

/** Every error code Imprint ever says, in one place. Documented in docs/errors.md (generated, checked by a test). */
export const ERRORS = {
  // Requests
  VALIDATION_FAILED: { status: 422, title: "The request is invalid", hint: "Correct the fields listed under errors." },
  MALFORMED_JSON: { status: 400, title: "The body is not JSON", hint: "Send one JSON object, UTF-8, without NaN or Infinity." },
  UNSUPPORTED_MEDIA_TYPE: {
    status: 415,
    title: "Unsupported content type",
    hint: "Send Content-Type: application/json (sessions: see docs/api.md).",
  },
  BODY_TOO_LARGE: {
    status: 413,
    title: "The body is too large",
    hint: "Send a smaller body; import large sessions with imprint import.",
  },
  RANGE_NOT_SATISFIABLE: {
    status: 416,
    title: "The range is behind the file's end",
    hint: "Content-Range says how large the file is.",
  },
  BAD_REQUEST: { status: 400, title: "The request cannot be read", hint: "Check the request line and headers." },
  HEADERS_TOO_LARGE: { status: 431, title: "The headers are too large", hint: "Send less than 16 KiB of headers and address." },
  REQUEST_INCOMPLETE: {
    status: 408,
    title: "The request stopped coming",
    hint: "Send all of it without long pauses: headers within a minute, a body at 1 KiB a minute at least.",
  },
  NOT_FOUND: { status: 404, title: "No such resource", hint: "See /docs for the routes of this service." },
  METHOD_NOT_ALLOWED: { status: 405, title: "Method not allowed", hint: "Use one of the methods in the Allow header." },
  JOB_NOT_FOUND: {
    status: 404,
    title: "No such job",
    hint: "GET /jobs lists those known; old finished ones are dropped.",
  },
  SESSION_NOT_FOUND: {
    status: 404,
    title: "No such session",
    hint: "Import it with imprint import or POST /sessions; GET /sessions lists those known.",
  },
  ADAPTER_NOT_FOUND: { status: 404, title: "No such adapter", hint: "GET /adapters lists those registered." },
  FILE_NOT_FOUND: { status: 404, title: "No such file", hint: "Upload it with POST /v1/files; GET /v1/files lists those there." },
  EXPORT_NOT_FOUND: {
    status: 404,
    title: "No such export",
    hint: "POST /adapters/{id}/export makes it.",
  },
  EVALUATION_NOT_FOUND: {
    status: 404,
    title: "No such evaluation",
    hint: "POST /adapters/{id}/evaluate makes it.",
  },
  TASKS_NOT_FOUND: {
    status: 404,
    title: "No evaluation on tasks",
    hint: "imprint evaluate ADAPTER --tasks FOLDER makes it.",
  },
  PROJECT_NOT_FOUND: {
    status: 404,
    title: "No such project",
    hint: "POST /projects/{name}/runs with session_ids makes it; GET /projects lists those there.",
  },
  PROJECT_BUSY: {
    status: 409,
    title: "A run of the project goes on",
    hint: "Wait for its end, or cancel its job.",
  },
  ROLLBACK_IMPOSSIBLE: {
    status: 409,
    title: "There is nothing to roll back to",
    hint: "Name an adapter of the project that is still registered.",
  },
  ADAPTER_ID_TAKEN: {
    status: 409,
    title: "The adapter id is taken",
    hint: "Choose another, or leave adapter_id out: ids are written once.",
  },
  JOB_FINISHED: { status: 409, title: "The job is finished", hint: "Only queued and running jobs can be cancelled." },
  JOB_NOT_FINISHED: { status: 409, title: "The job is not finished", hint: "Cancel it, or wait for its end." },
  CHECKPOINT_NOT_FOUND: {
    status: 404,
    title: "The job left no checkpoint",
    hint: "LoRA trainings leave one when they are cancelled or fail after a while; old ones are removed.",
  },
  IDEMPOTENCY_CONFLICT: {
    status: 409,
    title: "The Idempotency-Key was used with another body",
    hint: "Use a new key for a new request.",
  },
  SESSION_UNREADABLE: {
    status: 422,
    title: "The file is no session",
    hint: "See docs/sessions.md for the formats that are recognised.",
  },
  HOST_NOT_ALLOWED: {
    status: 403,
    title: "Host not allowed",
    hint: "Use the address that the service printed at start, or allow the name with --allow-host.",
  },
  ORIGIN_NOT_ALLOWED: {
    status: 403,
    title: "Cross-origin request refused",
    hint: "Call the service from its own pages or from a program without an Origin header.",
  },
  UNAUTHORIZED: { status: 401, title: "Token missing or wrong", hint: "Send Authorization: Bearer with the service's token." },
  QUEUE_FULL: { status: 429, title: "Too many queued jobs", hint: "Wait for jobs to finish, or raise --max-queued." },
  TOO_MANY_STREAMS: {
    status: 429,
    title: "Too many open event streams",
    hint: "Close pages and programs that follow jobs.",
  },
  SHUTTING_DOWN: { status: 503, title: "The service is shutting down", hint: "Retry when it runs again." },
  DEADLINE_EXCEEDED: {
    status: 503,
    title: "The answer took too long",
    hint: "The trainer or the machine is busy: GET /jobs shows what runs. Try again later.",
  },
  INTERNAL_ERROR: { status: 500, title: "Internal error", hint: "The service's log names the cause under this request_id." },

  // Upstream
  UPSTREAM_UNREACHABLE: {
    status: 503,
    title: "The upstream does not answer",
    hint: "Start it, or correct upstream; it is asked again with the next chat.",
  },
  UPSTREAM_BUSY: { status: 429, title: "The upstream is busy", hint: "Wait as long as Retry-After says." },
  UPSTREAM_UNAUTHORIZED: {
    status: 502,
    title: "The upstream refuses the service's token",
    hint: "Put the upstream's token into upstream_token_file, and start the service again.",
  },
  UPSTREAM_FAILED: { status: 502, title: "The upstream failed", hint: "Its own log says why." },

  // Data of a job
  SESSION_INVALID: { status: 422, title: "The stored session cannot be read", hint: "Import the session again from its source." },
  SESSION_UNSUCCESSFUL: {
    status: 422,
    title: "The session did not succeed",
    hint: "Set include_unsuccessful to train on it all the same, or label it with imprint label.",
  },
  NOTHING_TO_TRAIN: {
    status: 422,
    title: "No token would be supervised",
    hint: "Train on another session (imprint sessions lists them), or choose other turns with train_on.",
  },
  SESSION_TRAINED_ON: {
    status: 422,
    title: "The adapter was trained on the session",
    hint: "Test on others: GET /sessions lists those stored.",
  },
  NOTHING_TO_EVALUATE: {
    status: 422,
    title: "No session to test on",
    hint: "Import a later session of the same work, or name sessions in session_ids.",
  },
  NOTHING_HELD_OUT: {
    status: 422,
    title: "No text to choose by",
    hint: "Name more or longer sessions, or a larger part of them in holdout.",
  },
  TEMPLATE_UNSUPPORTED: {
    status: 422,
    title: "The base model's chat template cannot be masked",
    hint: "Choose a base model whose chat template renders the conversation turn by turn.",
  },
  // Models
  BASE_MODEL_NOT_FOUND: {
    status: 422,
    title: "The base model is not there",
    hint: "imprint models lists those that are here and those that are known; imprint models pull NAME fetches one.",
  },
  DOWNLOAD_FAILED: {
    status: null,
    title: "The model could not be fetched",
    hint: "Pulling again goes on with what was fetched.",
  },
  BASE_MODEL_IN_USE: {
    status: 409,
    title: "The base model is in use",
    hint: "Choose another with imprint models default NAME; what the set-up made stays.",
  },
  BASE_MODEL_UNSAFE: {
    status: 422,
    title: "The base model would run foreign code",
    hint: "Use a model in safetensors without remote code, pickles or a bundled adapter.",
  },
  BASE_MODEL_INVALID: {
    status: 422,
    title: "The base model cannot be loaded",
    hint: "Check the folder: config.json, tokenizer files and *.safetensors of a causal language model.",
  },
  BASE_MODEL_UNSUPPORTED: {
    status: 422,
    title: "The trainer cannot work with this family of base models",
    hint: "Choose another base model: what is trained, or its proof, would be wrong for this one.",
  },
  TARGET_MODULES_NOT_FOUND: {
    status: 422,
    title: "A target module matches no layer",
    hint: "Leave target_modules out, or name linear layers of the base model.",
  },
  PROMPT_REFUSED: {
    status: 400,
    title: "The prompt cannot be answered",
    hint: "Leave out what the engine or the base model's chat template cannot do.",
  },
  CONTEXT_LENGTH_EXCEEDED: {
    status: 400,
    title: "The prompt is longer than the model's context",
    hint: "Shorten the messages or the tools, or choose a base model with a longer context.",
  },
  HYPERNETWORK_NOT_INSTALLED: {
    status: 422,
    title: "No hypernetwork for this base model",
    hint: "POST /train/lora works without one; imprint hypernetworks lists those installed.",
  },
  HYPERNETWORK_INVALID: {
    status: 422,
    title: "The hypernetwork cannot be used",
    hint: "Convert the checkpoint again, for the base model it was trained for.",
  },
  CHECKPOINT_INVALID: { status: 422, title: "The checkpoint cannot be used", hint: "Start the training anew." },
  CHECKPOINT_MISMATCH: {
    status: 422,
    title: "The checkpoint is of another training",
    hint: "Bring back the sessions and the base model that it was made with, or start the training anew.",
  },
  // Result of a job
  ADAPTER_UNCHANGED: {
    status: null,
    title: "The adapter changes nothing",
    hint: "Raise the learning rate or the number of epochs.",
  },
  ADAPTER_HARMS: {
    status: null,
    title: "The model is worse with the adapter",
    hint: "Lower learning_rate or epochs; what a hypernetwork made worse, train with POST /train/lora.",
  },
  ADAPTER_NOT_FINITE: { status: null, title: "The adapter holds NaN or infinity", hint: "Lower the learning rate." },
  ADAPTER_INVALID: {
    status: 409,
    title: "The adapter's files failed validation",
    hint: "Train a registered one again, or put its files back; a new one is a fault of the trainer: please report it.",
  },
  ADAPTER_NOT_APPLIED: {
    status: 502,
    title: "The adapter is not applied",
    hint: "Look at its log and at --max-lora-rank; merged into the base model (imprint export --format merged) it cannot be left out.",
  },
  EXPORT_UNSUPPORTED: {
    status: 422,
    title: "The adapter cannot be exported to this format",
    hint: "Choose another format: docs/serving.md says what each one takes.",
  },
  // Worker
  OUT_OF_MEMORY: {
    status: null,
    title: "Out of memory",
    hint: "Lower max_length or rank, use quantization nf4, or close other programs: imprint doctor --plan says what fits.",
  },
  TIME_TOO_SHORT: {
    status: 422,
    title: "Too little time",
    hint: "Allow more time, or train on less.",
  },
  DISK_FULL: { status: 507, title: "The disk is full", hint: "Free space on the disk of the data directory, and try again." },
  FILES_DENIED: {
    status: 500,
    title: "Files may not be read or written",
    hint: "Let the service's user read and write the data directory and all in it; the service's log names the file.",
  },
  WORKER_START_FAILED: {
    status: 503,
    title: "The trainer could not be started",
    hint: "imprint doctor says what is missing; imprint setup installs it.",
  },
  WORKER_CRASHED: {
    status: 503,
    title: "The trainer died",
    hint: "The job's log holds its last lines; the next job gets a fresh trainer.",
  },
  WORKER_NO_RESULT: { status: null, title: "The trainer ended without a result", hint: "The job's log holds its last lines." },
  WORKER_SILENT: {
    status: 503,
    title: "The trainer stopped answering",
    hint: "The machine may be overloaded; raise --heartbeat-timeout or start the job again.",
  },
  WORKER_PROTOCOL: {
    status: 503,
    title: "The trainer said something unintelligible",
    hint: "Trainer and service may be of different versions: imprint setup.",
  },
  // Cluster
  CLUSTER_REFUSED: {
    status: null,
    title: "The cluster refused the job",
    hint: "Check ray_address and ray_token_file; the message holds what the cluster says.",
  },
  CLUSTER_UNREACHABLE: {
    status: null,
    title: "The cluster does not answer",
    hint: "Check that its head runs, and the way to it; a LoRA training's last checkpoint can be resumed.",
  },
  CLUSTER_LOST: {
    status: null,
    title: "The cluster lost the job",
    hint: "Start it again, or resume it from its last checkpoint; docs/ray.md says what can be lost when.",
  },
  STORAGE_FAILED: {
    status: null,
    title: "The shared storage cannot be used",
    hint: "Check the folder named by storage: this machine and the cluster's must be able to write to it.",
  },
  JOB_TIMEOUT: { status: null, title: "The job ran too long", hint: "Raise --max-job-seconds, or train fewer epochs." },
  TRAINER_ERROR: { status: 500, title: "The trainer failed", hint: "The service's log holds the trace." },
} as const satisfies Record<string, CatalogueEntry>;

export type ErrorCode = keyof typeof ERRORS;
export const ErrorCode = OneOf(Object.keys(ERRORS) as ErrorCode[]);

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

import { OneOf, Strict } from "@imprint/contracts";
import { type Static, Type } from "typebox";

/** Host names are compared as text with the Host header: no scheme, path or user part. */
const HostName = Type.String({ pattern: "^[A-Za-z0-9]([A-Za-z0-9.-]{0,251}[A-Za-z0-9])?(:[0-9]{1,5})?$" });
const MEBIBYTE = 1024 * 1024;

/** Every setting of the service. Flags, environment variables, the file and docs/configuration.md are projections of this. */
export const Settings = Strict({
  host: Type.String({
    minLength: 1,
    maxLength: 253,
    default: "127.0.0.1",
    description: "Address to listen on. Anything but loopback needs a token.",
  }),
  port: Type.Integer({ minimum: 0, maximum: 65535, default: 7878, description: "Port to listen on; 0 takes a free one." }),
  data_dir: Type.String({
    minLength: 1,
    default: "~/.imprint",
    description: "Folder of sessions, adapters, models and the registry. Created with mode 0700.",
  }),
  base_model: Type.String({
    minLength: 1,
    maxLength: 4096,
    default: "SmolLM2-135M-Instruct",
    description: "Base model of requests that name none: a prepared model's name, a hub id, or a local folder.",
  }),
  python: Type.Union([Type.String({ minLength: 1 }), Type.Null()], {
    default: null,
    description: "Python interpreter of the trainer. Default: the one that `imprint setup` prepared.",
  }),
  engine: Type.Unsafe<"transformers" | "llama.cpp">({
    ...OneOf(["transformers", "llama.cpp"]),
    default: "llama.cpp",
    description: "What answers chats: llama.cpp where it is installed and takes the model, or the trainer for all.",
  }),
  upstream: Type.Union([Type.String({ minLength: 1, maxLength: 2048 }), Type.Null()], {
    default: null,
    description: "Address of a vLLM, SGLang, llama-server or LM Studio that answers chats for the models that it serves.",
  }),
  upstream_token_file: Type.Union([Type.String({ minLength: 1 }), Type.Null()], {
    default: null,
    description: "File that holds the token for upstream; not readable by everyone.",
  }),
  upstream_adapters: Type.Union([Type.String({ minLength: 1, maxLength: 4096 }), Type.Null()], {
    default: null,
    description: "The data directory's folder adapters as upstream sees it. Default: the same path.",
  }),
  runner: Type.Unsafe<"local" | "ray">({
    ...OneOf(["local", "ray"]),
    default: "local",
    description: "Where jobs run: on this machine, or on a Ray cluster (docs/ray.md). Chats and previews are answered here.",
  }),
  ray_address: Type.Union([Type.String({ minLength: 1, maxLength: 2048 }), Type.Null()], {
    default: null,
    description: "Address of the Ray head's Jobs API, such as http://head:8265.",
  }),
  ray_token_file: Type.Union([Type.String({ minLength: 1 }), Type.Null()], {
    default: null,
    description: "File that holds the token of the Ray cluster; not readable by everyone.",
  }),
  ray_python: Type.Union([Type.String({ minLength: 1 }), Type.Null()], {
    default: null,
    description:
      "Python interpreter on the cluster's nodes, with the packages of trainer/requirements.lock. Default: the same path as here.",
  }),
  ray_cpus: Type.Integer({
    minimum: 1,
    maximum: 1024,
    default: 2,
    description: "CPUs that a job asks of the cluster, and threads that it takes.",
  }),
  ray_gpus: Type.Integer({ minimum: 0, maximum: 1, default: 0, description: "GPUs that a job asks of the cluster." }),
  ray_patience: Type.Number({
    minimum: 1,
    maximum: 86_400,
    default: 300,
    description: "Seconds without a sign of life from a job on the cluster, after which it counts as lost.",
  }),
  storage: Type.Union([Type.String({ minLength: 1, maxLength: 4096 }), Type.Null()], {
    default: null,
    description:
      "What this machine and the cluster's nodes see: a folder under the same path, such as NFS, or s3://bucket/prefix. The Ray runner needs it.",
  }),
  ray_scratch: Type.String({
    minLength: 2,
    maxLength: 1024,
    pattern: "^/",
    default: "/var/tmp/imprint",
    description: "Folder of a node's own disk that holds its copies where storage is s3://bucket/prefix.",
  }),
  adopt: Type.Boolean({
    default: false,
    description: "Whether jobs run on the cluster while the service is stopped, and are followed again when it starts.",
  }),
  slots: Type.Integer({ minimum: 1, maximum: 64, default: 1, description: "Jobs that run at once." }),
  max_queued: Type.Integer({ minimum: 1, maximum: 100_000, default: 1000, description: "Jobs that may wait; more are refused." }),
  max_job_seconds: Type.Number({
    minimum: 1,
    maximum: 30 * 86_400,
    default: 86_400,
    description: "A job that runs longer fails.",
  }),
  heartbeat_timeout: Type.Number({
    minimum: 1,
    maximum: 86_400,
    default: 60,
    description: "Seconds after which a silent trainer counts as hung.",
  }),
  shutdown_grace: Type.Number({
    minimum: 0,
    maximum: 3600,
    default: 10,
    description: "Seconds that running jobs get when the service stops.",
  }),
  allow_host: Type.Array(HostName, {
    maxItems: 32,
    default: [],
    description: "Further names under which the service may be called (Host header), besides localhost.",
  }),
  model_roots: Type.Array(Type.String({ minLength: 1, maxLength: 4096 }), {
    maxItems: 32,
    default: [],
    description: "Folders in which requests may name base models by their path.",
  }),
  allow_downloads: Type.Boolean({ default: false, description: "Whether base models may be downloaded from the hub." }),
  token: Type.Union([Type.String({ minLength: 22, maxLength: 512, pattern: "^[A-Za-z0-9._~+/=-]+$" }), Type.Null()], {
    default: null,
    description:
      "Requests must carry it as a bearer token. At least 22 characters; IMPRINT_TOKEN keeps it out of lists of processes.",
  }),
  session_limit: Type.Integer({
    minimum: 1024,
    maximum: 4096 * MEBIBYTE,
    default: 1024 * MEBIBYTE,
    description: "Bytes that an uploaded session may have, and a file put into the data directory by hand.",
  }),
  import_unpacked_bytes: Type.Integer({
    minimum: 1024,
    maximum: 65_536 * MEBIBYTE,
    default: 4096 * MEBIBYTE,
    description: "Bytes that one import may have once it is decompressed.",
  }),
  record: Type.Boolean({
    default: false,
    description: "Whether conversations with agents are recorded as sessions; a request may say otherwise.",
  }),
  tracker: Type.Unsafe<"trackio" | "mlflow" | "wandb" | null>({
    ...Type.Union([OneOf(["trackio", "mlflow", "wandb"]), Type.Null()]),
    default: null,
    description: "Where the numbers of trainings go too, as they come: its package is installed beside the trainer.",
  }),
  log_level: Type.Unsafe<"trace" | "debug" | "info" | "warn" | "error" | "silent">({
    ...OneOf(["trace", "debug", "info", "warn", "error", "silent"]),
    default: "warn",
    description: "What is logged, on standard error: in plain lines on a terminal, else in JSON.",
  }),
});
export type Settings = Readonly<Static<typeof Settings>>;
export type SettingName = keyof Settings;

export const SETTING_NAMES = Object.keys(Settings.properties) as readonly SettingName[];

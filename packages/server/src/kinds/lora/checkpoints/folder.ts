import { existsSync } from "node:fs";
import { copyFile, link, readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import {
  AdapterId,
  JobId,
  KeepHarmful,
  type KeptCheckpoint,
  Metadata,
  SessionId,
  Strict,
  TrainLoraSpec,
} from "@imprint/contracts";
import { fieldErrors, matches } from "@imprint/contracts/fields";
import { type TProperties, Type } from "typebox";
import { ImprintError, nullIfMissing, quote } from "../../../common/error.js";
import type { Jobs } from "../../../jobs/jobs.js";
import { writeAtomically } from "../../../storage/durable.js";
import type { DataPaths } from "../../../storage/paths.js";
import type { KindDeps } from "../../deps.js";
import type { ResolvedLora } from "../../resolve.js";

const FILE = "request.json";

/** Stepped when a field that is stored comes to mean something else. */
export const VERSION = 1;

/** Fields of a task that are another's when a training goes on: where files lie, and what was unreadable then. */
const OF_TASK: ReadonlySet<string> = new Set(["session_paths", "unreadable", "output_dir", "base_model_name", "checkpoint"]);

/** What a checkpoint folder says of the job that left it, by its spec: job records are lost with the process, these are not. */
export const storedFields = (spec: TProperties): TProperties => ({
  ...Object.fromEntries(Object.entries(spec).filter(([name]) => !OF_TASK.has(name))),
  session_id: SessionId,
  metadata: Metadata,
  keep_harmful: KeepHarmful,
});

export const FIELDS = storedFields(TrainLoraSpec.properties);

/** By field, with which value a training goes on whose request was stored before the field was there: as it began. */
const BEFORE: Partial<ResolvedLora> = { keep_harmful: false, profile: "remember", holdout: "none", within: null };

const invalid = (what: string, cause?: unknown): ImprintError =>
  new ImprintError("CHECKPOINT_INVALID", `The checkpoint's ${FILE} ${what}.`, { cause });

const parse = async (folder: string): Promise<{ readonly version?: unknown; readonly request?: object }> => {
  try {
    return Object(JSON.parse(await readFile(join(folder, FILE), "utf8")));
  } catch (cause) {
    throw invalid("cannot be read", cause);
  }
};

export const writeRequest = (folder: string, request: object): Promise<void> =>
  writeAtomically(join(folder, FILE), `${JSON.stringify({ version: VERSION, request }, null, 2)}\n`);

/** How requests of these fields are read, where `before` is what those lack that were stored earlier. */
export const requestReader = <Request = ResolvedLora>(fields: TProperties, before: object) => {
  const schema = Strict({ version: Type.Literal(VERSION), request: Strict(fields) });
  return async (folder: string): Promise<Request> => {
    const stored = await parse(folder);
    if (stored.version !== VERSION)
      throw invalid(`is of version ${String(stored.version).slice(0, 20)}; this Imprint reads ${VERSION}`);
    const file = { ...stored, request: { ...before, ...stored.request } };
    const [fault] = fieldErrors(schema, file);
    if (fault) throw invalid(`cannot be used: ${fault.path.slice(1).replaceAll("/", ".")} ${fault.message}`);
    return file.request as Request;
  };
};

/** @throws ImprintError CHECKPOINT_INVALID */
export const readRequest = requestReader(FIELDS, BEFORE);

/** The trainer's file: it names the tensors of the newest checkpoint. */
const STATE = "checkpoint.json";

/** The trainer's file of a sweep, whose folder holds one for each trial. */
export const SWEEP_FILE = "sweep.json";
const OF_TRAINER = /^checkpoint(-\d{7}\.safetensors|\.json)$/;

export const checkpointFolder = ({ checkpoints }: DataPaths, jobId: string): string => join(checkpoints, jobId);

const hasCheckpoint = (folder: string): boolean => existsSync(join(folder, STATE));

export const hasSweep = (folder: string): boolean => existsSync(join(folder, SWEEP_FILE));

/** The trainings and sweeps that can go on, newest first; some of their jobs may be under way. */
export const keptCheckpoints = async (paths: Pick<DataPaths, "checkpoints">): Promise<readonly KeptCheckpoint[]> => {
  const find = async (job_id: string): Promise<readonly KeptCheckpoint[]> => {
    const folder = join(paths.checkpoints, job_id);
    const [kind, file] = hasSweep(folder) ? (["sweep", SWEEP_FILE] as const) : (["lora", STATE] as const);
    const written = await stat(join(folder, file)).catch(() => null);
    const stored = await parse(folder).catch(() => null);
    if (written === null || stored === null) return [];
    const { adapter_id } = Object(stored.request);
    return [
      { job_id, kind, adapter_id: matches(AdapterId, adapter_id) ? adapter_id : null, written_at: written.mtime.toISOString() },
    ];
  };
  const names = ((await readdir(paths.checkpoints).catch(nullIfMissing)) ?? []).filter((name) => matches(JobId, name));
  return (await Promise.all(names.map(find))).flat().sort((a, b) => (a.written_at < b.written_at ? 1 : -1));
};

/** What a kind of training keeps in its jobs' checkpoint folders. */
export interface CheckpointFormat {
  /** What a job of the kind is called. */
  readonly name: string;
  /** Whether a folder holds enough to go on from. */
  readonly isIn: (folder: string) => boolean;
  readonly copy: (source: string, folder: string) => Promise<void>;
}

/**
 * Gives `folder` the files of `source` with such names. The trainer replaces its files and never writes into them: a second name for
 * the same bytes is as good as a copy.
 */
export const shareFiles = async (source: string, folder: string, isWanted: (name: string) => boolean): Promise<void> => {
  for (const name of (await readdir(source)).filter(isWanted)) {
    const [from, to] = [join(source, name), join(folder, name)];
    await link(from, to).catch(() => copyFile(from, to));
  }
};

export const LORA: CheckpointFormat = {
  name: "job",
  isIn: hasCheckpoint,
  copy: (source, folder) => shareFiles(source, folder, (name) => OF_TRAINER.test(name)),
};

/**
 * The request of a job that left a checkpoint, as it was resolved.
 * @throws ImprintError CHECKPOINT_NOT_FOUND or CHECKPOINT_INVALID
 */
const requestOfCheckpoint = async (paths: DataPaths, jobId: string): Promise<ResolvedLora> => {
  const folder = checkpointFolder(paths, jobId);
  if (hasSweep(folder))
    throw new ImprintError(
      "CHECKPOINT_NOT_FOUND",
      `The job ${jobId} is a sweep: POST /train/sweep goes on with it, and it is not salvaged.`,
    );
  if (!hasCheckpoint(folder)) throw new ImprintError("CHECKPOINT_NOT_FOUND", `There is no checkpoint of a job ${jobId}.`);
  return readRequest(folder);
};

interface Kept {
  readonly jobs: Pick<Jobs, "get">;
  readonly deps: Pick<KindDeps, "paths">;
}

/** Whatever `read` finds of a finished job, also where a restart has forgotten the job. */
export const requireKept = async <Request>(
  jobId: string,
  { jobs, deps: { paths } }: Kept,
  read: (paths: DataPaths, jobId: string) => Promise<Request>,
): Promise<Request> => {
  const job = matches(JobId, jobId) ? jobs.get(jobId) : null;
  if (job === null) throw new ImprintError("CHECKPOINT_NOT_FOUND", `There is no job ${quote(jobId)}.`);
  if (job?.finished_at === null) throw new ImprintError("JOB_NOT_FINISHED", `The job ${jobId} is ${job.status}.`);
  if (job?.status === "completed")
    throw new ImprintError("CHECKPOINT_NOT_FOUND", `The job ${jobId} is completed: its adapter is ${job.adapter_id}.`);
  return read(paths, jobId);
};

/**
 * The resolved request of a finished job that left a checkpoint, also where a restart has forgotten the job.
 * @throws ImprintError JOB_NOT_FINISHED, CHECKPOINT_NOT_FOUND or CHECKPOINT_INVALID
 */
export const requireCheckpoint = (jobId: string, kept: Kept): Promise<ResolvedLora> =>
  requireKept(jobId, kept, requestOfCheckpoint);

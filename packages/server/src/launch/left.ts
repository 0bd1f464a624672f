import { rm } from "node:fs/promises";
import { JobKind, type KeptCheckpoint, type Resubmitted, Strict } from "@imprint/contracts";
import { type Static, Type } from "typebox";
import { ImprintError } from "../common/error.js";
import { createKeyedLock } from "../common/keyed-lock.js";
import type { Job } from "../jobs/job.js";
import type { Start } from "../kinds/index.js";
import { keptCheckpoints } from "../kinds/lora/checkpoints/folder.js";
import { readRecord, writeAtomically } from "../storage/durable.js";
import type { DataPaths } from "../storage/paths.js";
import { type Launch, type LaunchDeps, launch } from "./start.js";

// What a service that stops, or is killed, leaves of its jobs. Their records are in memory and go with it.

const Unstarted = Strict({
  kind: JobKind,
  request: Type.Record(Type.String(), Type.Unknown()),
  warnings: Type.Array(Type.String()),
});
const File = Strict({ version: Type.Literal(1), jobs: Type.Array(Unstarted) });
type Unstarted = Static<typeof Unstarted>;

const read = async (path: string): Promise<readonly Unstarted[]> => (await readRecord(File, path))?.jobs ?? [];

/** A run of a project is begun again by its project. */
const isOfProject = ({ request: { metadata } }: Pick<Unstarted, "request">): boolean =>
  typeof metadata === "object" && metadata !== null && "project" in metadata && "run" in metadata;

/** By the file: it is read, changed and written by one at a time. */
const changing = createKeyedLock();

const write = (path: string, jobs: readonly Pick<Unstarted | Job, keyof Unstarted>[]): Promise<void> =>
  jobs.length === 0 ? rm(path, { force: true }) : writeAtomically(path, JSON.stringify({ version: 1, jobs }));

/** Keeps what jobs were asked that a stop left unstarted, behind those of earlier stops. */
export const keepUnstarted = async ({ unstarted: path }: DataPaths, jobs: readonly Job[]): Promise<void> => {
  const kept = jobs.filter((job) => !isOfProject(job)).map(({ kind, request, warnings }) => ({ kind, request, warnings }));
  if (kept.length > 0) await changing([path], async () => write(path, [...(await read(path)), ...kept]));
};

/**
 * Starts the jobs that earlier stops left unstarted, in their order; those that find no place stay kept. They are in the file until all
 * of them were tried: the jobs of a service that is killed meanwhile are lost with it, and the next time starts them again.
 */
export const resubmit = (
  { paths, transact }: Pick<Launch, "transact"> & { readonly paths: DataPaths },
  deps: LaunchDeps,
): Promise<Resubmitted> =>
  changing([paths.unstarted], async () => {
    const made: { jobs: Resubmitted["jobs"]; refused: Resubmitted["refused"] } = { jobs: [], refused: [] };
    const later: Unstarted[] = [];
    for (const one of await read(paths.unstarted))
      try {
        const job_id = await launch({ start: one as unknown as Start, call: null, transact }, deps);
        made.jobs.push({ job_id, status: "queued" });
      } catch (error) {
        if (!(error instanceof ImprintError)) throw error;
        if (error.code === "QUEUE_FULL" || error.code === "SHUTTING_DOWN") later.push(one);
        else made.refused.push({ kind: one.kind, reason: error.message });
      }
    await write(paths.unstarted, later);
    return { ...made, kept: later.length };
  });

/** How many jobs wait to be submitted again, and which trainings can go on whose job has ended, or was lost with its service. */
export const findLeft = async (paths: DataPaths, jobs: LaunchDeps["jobs"]) => {
  const isOver = ({ job_id }: KeptCheckpoint): boolean => jobs.get(job_id)?.finished_at !== null;
  return { unstarted: (await read(paths.unstarted)).length, checkpoints: (await keptCheckpoints(paths)).filter(isOver) };
};

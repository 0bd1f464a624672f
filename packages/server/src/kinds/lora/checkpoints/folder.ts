import { existsSync } from "node:fs";
import { copyFile, link, mkdir, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { ImprintError } from "../../../common/error.js";
import type { DataPaths } from "../../../storage/paths.js";
import type { ResolvedLora } from "../resolve.js";
import { readRequest, writeRequest } from "./request-file.js";

/** The trainer's file: it names the tensors of the newest checkpoint. */
const STATE = "checkpoint.json";
/** The trainer's file of a sweep, whose folder holds one for each trial. */
export const SWEEP_FILE = "sweep.json";
const OF_TRAINER = /^checkpoint(-\d{7}\.safetensors|\.json)$/;

export const checkpointFolder = ({ checkpoints }: DataPaths, jobId: string): string => join(checkpoints, jobId);

export const hasCheckpoint = (folder: string): boolean => existsSync(join(folder, STATE));

export const hasSweep = (folder: string): boolean => existsSync(join(folder, SWEEP_FILE));

/**
 * The request of a job that left a checkpoint, as it was resolved.
 * @throws ImprintError CHECKPOINT_NOT_FOUND or CHECKPOINT_INVALID
 */
export const requestOfCheckpoint = async (paths: DataPaths, jobId: string): Promise<ResolvedLora> => {
  const folder = checkpointFolder(paths, jobId);
  if (hasSweep(folder))
    throw new ImprintError(
      "CHECKPOINT_NOT_FOUND",
      `The job ${jobId} is a sweep: POST /train/sweep goes on with it, and it is not salvaged.`,
    );
  if (!hasCheckpoint(folder)) throw new ImprintError("CHECKPOINT_NOT_FOUND", `There is no checkpoint of a job ${jobId}.`);
  return readRequest(folder);
};

/** The trainer replaces its files and never writes into them: a second name for the same bytes is as good as a copy. */
const share = async (from: string, to: string): Promise<void> => {
  await link(from, to).catch(() => copyFile(from, to));
};

/** What a kind of training keeps in its jobs' checkpoint folders. */
export interface Keeps {
  /** What a job of the kind is called. */
  readonly name: string;
  /** Whether a folder holds enough to go on from. */
  readonly isIn: (folder: string) => boolean;
  readonly copy: (source: string, folder: string) => Promise<void>;
}

/** Gives `folder` the files of `source` with such names. */
export const shareFiles = async (source: string, folder: string, isWanted: (name: string) => boolean): Promise<void> => {
  for (const name of (await readdir(source)).filter(isWanted)) await share(join(source, name), join(folder, name));
};

export const LORA: Keeps = {
  name: "job",
  isIn: hasCheckpoint,
  copy: (source, folder) => shareFiles(source, folder, (name) => OF_TRAINER.test(name)),
};

/**
 * Makes the checkpoint folder of a job, which begins with what the job goes on from. Leaves no folder behind when it rejects.
 * @throws ImprintError CHECKPOINT_NOT_FOUND
 */
export const makeCheckpointFolder = async (
  paths: DataPaths,
  { jobId, request, resumeFrom }: { readonly jobId: string; readonly request: object; readonly resumeFrom: string | null },
  keeps: Keeps,
): Promise<void> => {
  const folder = checkpointFolder(paths, jobId);
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await writeRequest(folder, request);
    if (resumeFrom === null) return;
    const source = checkpointFolder(paths, resumeFrom);
    if (!keeps.isIn(source))
      throw new ImprintError("CHECKPOINT_NOT_FOUND", `The checkpoint of the ${keeps.name} ${resumeFrom} is gone.`);
    await keeps.copy(source, folder);
  } catch (error) {
    await rm(folder, { recursive: true, force: true });
    throw error;
  }
};

import { mkdir, readdir } from "node:fs/promises";
import { join } from "node:path";
import { TrainSweepSpec } from "@imprint/contracts";
import { ImprintError } from "../../common/error.js";
import type { DataPaths } from "../../storage/paths.js";
import {
  type CheckpointFormat,
  checkpointFolder,
  hasSweep,
  requestReader,
  SWEEP_FILE,
  shareFiles,
  storedFields,
} from "../lora/checkpoints/folder.js";
import type { ResolvedSweep } from "./resolve.js";

const TRIAL = /^trial-\d+$/;

const readRequest = requestReader<ResolvedSweep>(storedFields(TrainSweepSpec.properties), {});

/**
 * The request of a sweep that did not end, as it was resolved.
 * @throws ImprintError CHECKPOINT_NOT_FOUND or CHECKPOINT_INVALID
 */
export const requestOfSweep = async (paths: DataPaths, jobId: string): Promise<ResolvedSweep> => {
  const folder = checkpointFolder(paths, jobId);
  if (!hasSweep(folder)) throw new ImprintError("CHECKPOINT_NOT_FOUND", `There is no checkpoint of a sweep ${jobId}.`);
  return readRequest(folder);
};

/** What the trials of a sweep found, each in a folder of its own. */
export const SWEEP: CheckpointFormat = {
  name: "sweep",
  isIn: hasSweep,
  copy: async (source, folder) => {
    const trials = (await readdir(source, { withFileTypes: true })).filter(
      (entry) => entry.isDirectory() && TRIAL.test(entry.name),
    );
    for (const { name } of trials) {
      await mkdir(join(folder, name), { mode: 0o700 });
      await shareFiles(join(source, name), join(folder, name), () => true);
    }
    await shareFiles(source, folder, (name) => name === SWEEP_FILE);
  },
};

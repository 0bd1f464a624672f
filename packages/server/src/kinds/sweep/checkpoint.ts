import { mkdir, readdir } from "node:fs/promises";
import { join } from "node:path";
import { KeepHarmful, Metadata, SessionId, TrainSweepSpec } from "@imprint/contracts";
import { ImprintError } from "../../common/error.js";
import type { DataPaths } from "../../storage/paths.js";
import { checkpointFolder, hasSweep, makeFolder, share } from "../lora/checkpoints/folder.js";
import { requestReader } from "../lora/checkpoints/request-file.js";
import type { ResolvedSweep } from "./resolve.js";

const OF_TRAINER = /^(trial-\d+|sweep\.json)$/;

const {
  session_paths: _paths,
  unreadable: _unreadable,
  output_dir: _out,
  base_model_name: _name,
  checkpoint: _kept,
  ...decided
} = TrainSweepSpec.properties;

const readRequest = requestReader<ResolvedSweep>(
  { ...decided, session_id: SessionId, metadata: Metadata, keep_harmful: KeepHarmful },
  {},
);

/**
 * The request of a sweep that did not end, as it was resolved.
 * @throws ImprintError CHECKPOINT_NOT_FOUND or CHECKPOINT_INVALID
 */
export const requestOfSweep = async (paths: DataPaths, jobId: string): Promise<ResolvedSweep> => {
  const folder = checkpointFolder(paths, jobId);
  if (!hasSweep(folder)) throw new ImprintError("CHECKPOINT_NOT_FOUND", `There is no checkpoint of a sweep ${jobId}.`);
  return readRequest(folder);
};

/** Makes a sweep's checkpoint folder, which begins with what the sweep goes on from. */
export const makeSweepFolder = (
  paths: DataPaths,
  { jobId, request, resumeFrom }: { readonly jobId: string; readonly request: ResolvedSweep; readonly resumeFrom: string | null },
): Promise<void> =>
  makeFolder(paths, {
    jobId,
    request,
    fill: async (folder) => {
      if (resumeFrom === null) return;
      const source = checkpointFolder(paths, resumeFrom);
      if (!hasSweep(source)) throw new ImprintError("CHECKPOINT_NOT_FOUND", `The checkpoint of the sweep ${resumeFrom} is gone.`);
      const entries = (await readdir(source, { withFileTypes: true })).filter(({ name }) => OF_TRAINER.test(name));
      for (const entry of entries) {
        if (!entry.isDirectory()) {
          await share(join(source, entry.name), join(folder, entry.name));
          continue;
        }
        await mkdir(join(folder, entry.name), { mode: 0o700 });
        for (const name of await readdir(join(source, entry.name)))
          await share(join(source, entry.name, name), join(folder, entry.name, name));
      }
    },
  });

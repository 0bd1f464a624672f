import type { HypernetworkTask, JobResult } from "@imprint/contracts";
import type { Kind } from "../../jobs/kind.js";
import { onRunner } from "../../jobs/on-runner.js";
import { reference } from "../../runners/reference.js";
import type { KindDeps } from "../deps.js";
import type { ResolvedHypernetwork } from "../resolve.js";
import { prepareTraining, registerTraining, removeStaging, type StagedTraining, showsTraining } from "../training.js";

/** Folders whose sub-folders are hypernetworks: one's own before those that Imprint ships. */
const HYPERNETWORKS = [reference("hypernetworks"), reference("shipped-hypernetworks")];

/** An adapter from one pass of a hypernetwork over a session. */
export const createHypernetwork = (deps: KindDeps): Kind<ResolvedHypernetwork, HypernetworkTask, JobResult> => ({
  reserves: ({ adapter_id }) => adapter_id,
  prepare: (job, signal) => {
    const { metadata: _kept, keep_harmful: _rule, session_ids: _only, ...rest } = job.request;
    const toTask = ({ staged, files }: StagedTraining): HypernetworkTask => {
      const [session_path] = staged.session_paths;
      const spec = { ...rest, ...files, session_path, hypernetworks_dirs: HYPERNETWORKS };
      return { type: "train_hypernetwork", job_id: job.job_id, spec };
    };
    return prepareTraining(job, { skipInvalid: false, signal, toTask }, deps);
  },
  run: onRunner,
  finish: (done) => registerTraining(done, { method: "hypernetwork" }, deps),
  discard: (job) => removeStaging(deps.paths, job),
  shows: showsTraining,
});

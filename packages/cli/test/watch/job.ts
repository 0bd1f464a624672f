import type { JobDetails } from "@imprint/contracts";

/** A running job, but for these fields. */
export const job = (changes: Partial<JobDetails>): JobDetails => ({
  job_id: "01jd8z6v3m4n5p6q7r8s9t0v1w",
  status: "running",
  adapter_id: null,
  kind: "lora",
  version: 1,
  request: {},
  created_at: "2026-11-21T00:00:00.000Z",
  started_at: null,
  finished_at: null,
  queue_position: null,
  cancel_requested: false,
  phase: "training",
  plan: null,
  progress: null,
  measuring: null,
  checkpoint: null,
  proof: null,
  result: null,
  warnings: [],
  ...changes,
});

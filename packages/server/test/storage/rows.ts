import type { SessionSummary } from "@imprint/contracts";
import type { RunRow } from "../../src/projects/rows.js";
import type { AdapterRow } from "../../src/registry/adapters.js";

const PROOF = { loss_before: 2, loss_after: 1, held_out: null } as unknown as AdapterRow["proof"];

/** An adapter as it is registered. */
export const adapterRow = (adapter_id: string, changes: Partial<AdapterRow> = {}): AdapterRow => ({
  adapter_id,
  method: "lora",
  base_model: "test-model",
  task_type: "code-gen",
  session_id: changes.session_ids?.[0] ?? "s1",
  session_ids: ["s1"],
  job_id: `job-of-${adapter_id}`,
  rank: 8,
  alpha: 16,
  size: 1000,
  sha256: "a".repeat(64),
  files: [{ name: "adapter_model.safetensors", size: 1000, sha256: "a".repeat(64) }],
  metadata: {},
  proof: PROOF,
  partial: null,
  evaluation: null,
  served: null,
  tasks: null,
  created_at: "2026-01-01T00:00:00.000Z",
  path: `adapters/${adapter_id}`,
  ...changes,
});

/** A session as lists show it. */
export const sessionSummary = (session_id: string, changes: Partial<SessionSummary> = {}): SessionSummary =>
  ({
    session_id,
    format: "codex",
    format_version: null,
    outcome: "success",
    task: "Fix the gate.",
    sha256: "b".repeat(64),
    created_at: "2026-01-01T00:00:00.000Z",
    ...changes,
  }) as SessionSummary;

/** The first run of a project, completed. */
export const runRow = (project: string): RunRow => ({
  project,
  run: 1,
  adapter_id: `${project}-1`,
  status: "completed",
  chosen: { new: [], replayed: [], held_out: [], basis: "x" },
  seed: 7,
  train_job_id: null,
  evaluate_job_id: null,
  verdict: "helps",
  sentence: "It helps.",
  figures: null,
  moved: true,
  error: null,
  created_at: "2026-01-01T00:00:00.000Z",
  finished_at: "2026-01-01T00:00:01.000Z",
});

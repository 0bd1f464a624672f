import type { JobDetails } from "@imprint/contracts";
import { expect, test } from "vitest";
import { applyJobEvent, applyJobsEvent, NO_JOB } from "../../src/live/job-state.js";

const job = (at: number, changes: Partial<JobDetails> = {}): JobDetails => ({
  job_id: `01m7yxp1kvmf9w1ye7jtfp1z${String(at).padStart(2, "0")}`,
  status: "queued",
  adapter_id: null,
  kind: "lora",
  version: 1,
  request: {},
  created_at: "2026-01-01T00:00:00Z",
  started_at: null,
  finished_at: null,
  queue_position: null,
  cancel_requested: false,
  phase: null,
  plan: null,
  progress: null,
  measuring: null,
  checkpoint: null,
  proof: null,
  result: null,
  warnings: [],
  ...changes,
});

const positions = (jobs: readonly JobDetails[]): readonly (number | null)[] => jobs.map(({ queue_position }) => queue_position);

test("jobs stand newest first, and a status replaces what was known of its job", () => {
  const told = applyJobsEvent([], { type: "snapshot", jobs: [job(1), job(3), job(2)] });
  const changed = applyJobsEvent(told, { type: "status", job: job(2, { status: "failed" }) });
  expect(changed.map(({ job_id }) => job_id.slice(-1))).toEqual(["3", "2", "1"]);
  expect(changed.map(({ status }) => status)).toEqual(["queued", "failed", "queued"]);
});

test("whoever waits behind a job that leaves the queue moves up, and nobody else", () => {
  const waiting = [job(3, { queue_position: 3 }), job(2, { queue_position: 2 }), job(1, { queue_position: 1 })];
  const left = applyJobsEvent(waiting, { type: "status", job: job(2, { status: "cancelled" }) });
  expect(positions(left)).toEqual([2, null, 1]);
  const again = applyJobsEvent(left, { type: "status", job: job(2, { status: "cancelled" }) });
  expect(positions(again)).toEqual([2, null, 1]);
  const stays = applyJobsEvent(left, { type: "status", job: job(1, { queue_position: 1, cancel_requested: true }) });
  expect(positions(stays)).toEqual([2, null, 1]);
});

test("a log is appended to and keeps its end; a resync changes nothing until the snapshot comes", () => {
  const begun = applyJobEvent(NO_JOB, { type: "snapshot", job: job(1), curve: [], log: "first\n" });
  const { job_id } = job(1);
  const grown = applyJobEvent(begun, { type: "log", job_id, text: "second\n" });
  expect(grown.log).toBe("first\nsecond\n");
  expect(applyJobEvent(grown, { type: "resync", reason: "too slow" })).toBe(grown);
  const long = applyJobEvent(grown, { type: "log", job_id, text: "x".repeat(300_000) });
  expect(long.log.length).toBeLessThanOrEqual(200_000);
});

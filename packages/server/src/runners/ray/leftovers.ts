import { attemptOfKept, type KeptJob, keptJobs, prefixOf, readEnd } from "./attempt.js";
import type { RayRunnerOptions } from "./options.js";
import { openRemote } from "./remote-process.js";
import { resultsOf } from "./ship-task.js";
import { fetchCheckpoint } from "./storage.js";

const TERMINAL = ["STOPPED", "SUCCEEDED", "FAILED"];

/**
 * Stops what an earlier service left running, and brings its checkpoint here, to resume or salvage. What had finished stays for a
 * while, for a service that adopts.
 */
export const releaseJob = async (kept: KeptJob, options: RayRunnerOptions): Promise<void> => {
  const { api, storage, places, python: program, limits, pollMs, askMs, cancelGraceMs, keepMs, clock, log } = options;
  const { store } = storage;
  const attempt = attemptOfKept(storage, kept);
  const record = await readEnd(store, attempt.folder, attempt);
  if (record !== null && record !== "foreign" && record.how.type === "settled" && record.files.length > 0) {
    const written = (await store.modified(`${attempt.folder}/end.json`)) ?? clock.now();
    if (clock.now() - written > keepMs) await store.remove(storage.jobFolder(kept.job_id));
    else log.warn({ job_id: kept.job_id }, "a job finished while no service ran: --adopt registers what it made");
    return;
  }
  const remote = openRemote({ attempt, program, store, api, adopted: true, limits, pollMs, askMs, clock, log });
  for (const stream of [remote.stdout, remote.stderr]) stream?.resume();
  remote.kill("SIGTERM");
  const disarm = clock.after(cancelGraceMs, () => remote.kill("SIGKILL"));
  await remote.end;
  disarm();
  const { checkpoint } = resultsOf(kept.task, places);
  if (checkpoint !== null) await fetchCheckpoint(store, `${attempt.folder}/checkpoint`, checkpoint);
  await store.remove(storage.jobFolder(kept.job_id));
  log.warn({ job_id: kept.job_id }, "a job that an earlier service left on the cluster was stopped");
};

/** Stops what runs under our name and is no job of the storage. Rejects where the storage does not answer, and stops nothing then. */
export const stopLeftovers = async ({ api, storage, log }: RayRunnerOptions): Promise<void> => {
  const reply = await api.list();
  if (reply.type !== "ok") return;
  // Asked afterwards: what this service submits meanwhile is kept before it is listed.
  const kept = await keptJobs(storage);
  const known = new Set(kept.map((one) => attemptOfKept(storage, one).submission_id));
  for (const { submission_id, status } of reply.value) {
    if (!submission_id?.startsWith(prefixOf(storage.instance)) || known.has(submission_id) || TERMINAL.includes(status)) continue;
    await api.stop(submission_id);
    log.warn({ submission_id }, "a job that nobody follows was stopped on the cluster");
  }
};

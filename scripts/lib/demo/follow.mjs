import { watchJob } from "../../../packages/cli/dist/index.js";

/** Follows a job to its end. Resolves with the completed job's details; throws what it failed with. */
export async function follow({ client, paper, signal, out }, jobId) {
  const io = {
    err: out,
    input: process.stdin,
    paint: { out: paper.paint, err: paper.paint },
    // An interrupt of the demo cancels the job, and the demo goes on to its end once the trainer has stopped.
    onInterrupt: (handler) => {
      signal.addEventListener("abort", handler);
      if (signal.aborted) handler();
      return () => signal.removeEventListener("abort", handler);
    },
  };
  const job = await watchJob({ io, client, jobId, own: true });
  signal.throwIfAborted();
  if (job.status !== "completed")
    throw new Error(job.error ? `${job.error.message} ${job.error.hint}` : `the job was ${job.status}`);
  return job;
}

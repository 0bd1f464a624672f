import { watchJob } from "../../../../packages/cli/dist/index.js";

/** Trains on a session and follows the job. Resolves with the completed job's details; throws what it failed with. */
export async function train({ client, paper, signal, out }, sessionId) {
  paper.step("Train an adapter on it (QLoRA)");
  const request = { session_id: sessionId, seed: 1 }; // the same adapter each time
  paper.remark(`POST /train/lora ${JSON.stringify(request)}`);
  const { job_id } = await client.train.lora(request, { signal });
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
  const job = await watchJob({ io, client, jobId: job_id, own: true });
  signal.throwIfAborted();
  if (job.status !== "completed")
    throw new Error(job.error ? `${job.error.message} ${job.error.hint}` : `the job was ${job.status}`);
  return job;
}

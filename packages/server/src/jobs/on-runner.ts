import type { TaskResult, WorkerTask } from "@imprint/contracts";
import { ImprintError } from "../common/error.js";
import type { JobHandle, Outcome, Runner } from "../runners/runner.js";
import type { Job } from "./job.js";
import type { RunContext } from "./kind.js";

/** Runs a trainer's task to its end. The result is of the task's kind: the runner sees to that. */
export async function onRunner<Result extends TaskResult>(
  task: WorkerTask,
  { runner, signal, onEvent }: RunContext,
): Promise<Result> {
  const handle = runner.start(task, onEvent);
  const cancel = (): void => handle.cancel(signal.reason);
  signal.addEventListener("abort", cancel, { once: true });
  try {
    const outcome = await handle.outcome;
    if (outcome.type === "done") return outcome.result as Result;
    if (outcome.type === "failed") throw ImprintError.from(outcome.error);
    throw new ImprintError("TRAINER_ERROR", "The training was cancelled.");
  } finally {
    signal.removeEventListener("abort", cancel);
  }
}

type Starts = Pick<Runner, "start">;

/** Tells the runner what the job's record is made of, for after a restart. */
export const remembering = (runner: Starts, { kind, request, created_at }: Job): Starts => ({
  start: (task, onEvent) => runner.start(task, onEvent, { kind, request, created_at }),
});

const gone: Outcome = {
  type: "failed",
  error: new ImprintError("CLUSTER_LOST", "The job that was to be followed again is not there any more.").toDetail(),
};

/** Follows a job that is under way instead of starting it. */
export const adopting = (runner: Pick<Runner, "adopt">): Starts => ({
  start({ job_id }, onEvent): JobHandle {
    const found = runner.adopt(job_id, onEvent);
    return {
      cancel: (reason) => void found.then((handle) => handle?.cancel(reason)),
      outcome: found.then((handle) => handle?.outcome ?? gone),
    };
  },
});

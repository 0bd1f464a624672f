import type { TaskResult, WorkerTask } from "@imprint/contracts";
import { ImprintError } from "../common/error.js";
import type { RunContext } from "./kind.js";

/** Runs a trainer's task to its end. The result is of the task's kind: the runner sees to that. */
export async function onRunner<Result extends TaskResult>(
  task: WorkerTask,
  { runner, signal, onEvent }: RunContext,
): Promise<Result> {
  const handle = runner.start(task, onEvent);
  const cancel = (): void => handle.cancel();
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

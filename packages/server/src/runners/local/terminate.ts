import type { Clock } from "../../common/clock.js";
import type { WorkerProcess } from "./spawn.js";

interface TerminateOptions {
  readonly process: WorkerProcess;
  readonly graceMs: number;
  readonly clock: Clock;
}

/** Closes stdin and sends TERM, then KILL after the grace period, both to the whole group. Resolves when the process is gone. */
export async function terminate({ process, graceMs, clock }: TerminateOptions): Promise<void> {
  process.stdin?.end();
  process.kill(graceMs > 0 ? "SIGTERM" : "SIGKILL");
  const disarm = clock.after(graceMs, () => process.kill("SIGKILL"));
  await process.ended;
  disarm();
}

import type { CommandContext } from "../context.js";
import { UsageError } from "../errors.js";
import type { Printer } from "../output/printer.js";
import type { Service } from "../service/connect.js";
import { outcome } from "./outcome.js";
import { watchJob } from "./watch-job.js";

export interface WatchFlags {
  readonly watch?: boolean;
  readonly log?: boolean;
}

/** @throws UsageError for `--log` alone */
export function checkFlags({ watch, log }: WatchFlags): void {
  if (log && !watch) throw new UsageError("--log shows what happens while a job is watched: add --watch");
}

/** Watches a job and prints how it ended. Anything but a completed job is exit code 1. */
export async function follow({
  context: { io, state },
  printer,
  service,
  jobId,
  log = false,
}: {
  context: CommandContext;
  printer: Printer;
  service: Service;
  jobId: string;
  log?: boolean | undefined;
}): Promise<void> {
  const { client, own } = service;
  const job = await watchJob({ io, client, jobId, own, log });
  if (job === null) {
    state.exitCode = 1;
    const goesOn = own ? "The job ends with this command." : `The job goes on: ${io.name} job ${jobId} --watch`;
    return printer.result({ job_id: jobId, watching: false }, () => `Stopped watching. ${goesOn}`);
  }
  state.exitCode = job.status === "completed" ? 0 : 1;
  printer.result(job, () => {
    const next = job.adapter_id === null || job.kind === "evaluate" ? "" : `\n\nTry it: ${io.name} chat ${job.adapter_id}`;
    return outcome(job, io.paint.out, io.name) + next;
  });
}

import { type Imprint, NotFoundError } from "@imprint/client";
import type { JobDetails } from "@imprint/contracts";
import type { Command } from "commander";
import { type CommandContext, type CommonOptions, newCommand, printerOf } from "../context.js";
import { CommandError } from "../errors.js";
import { fullId } from "../ids/full-id.js";
import { goOnLines } from "../output/left.js";
import { fields } from "../output/table.js";
import { withService } from "../service/connect.js";
import { checkFlags, follow, type WatchFlags } from "../watch/follow.js";
import { outcome } from "../watch/outcome.js";
import { phaseOf, planOf } from "../watch/phase.js";
import { figures, measured } from "../watch/progress.js";

/** A job that the service does not know any more may have left what can go on: then that is said. */
async function detailsOf(jobId: string, { jobs }: Imprint, name: string): Promise<JobDetails> {
  try {
    return await jobs.details(jobId);
  } catch (error) {
    const kept = error instanceof NotFoundError ? (await jobs.list({ limit: 1 })).left.checkpoints : [];
    const found = kept.find(({ job_id }) => job_id === jobId);
    if (!found) throw error;
    throw new CommandError(
      [`The job ${jobId} was lost with its service; its checkpoint is kept.`, ...goOnLines(found, name)].join("\n"),
      "JOB_NOT_FOUND",
    );
  }
}

export function jobCommand(context: CommandContext): Command {
  return newCommand({ name: "job", examples: ["job 01jd8z6v3m4n5p6q7r8s9t0v1w", "job 01jd8z6v3m4n5p6q7r8s9t0v1w --watch --log"] })
    .argument("<id>", "id of the job, the beginning of it, or latest")
    .option("--watch", "follow the job to its end")
    .option("--log", "with --watch: show the trainer's log")
    .action(async (given: string, options: CommonOptions & WatchFlags) => {
      checkFlags(options);
      const printer = printerOf(context, options);
      await withService({ io: context.io, options, note: printer.note }, async (service) => {
        const jobId = await fullId(given, { kind: "job", client: service.client, note: printer.note });
        if (options.watch) return follow({ context, printer, service, jobId, log: options.log });
        const job = await detailsOf(jobId, service.client, context.io.name);
        const paint = context.io.paint.out;
        printer.result(job, () => {
          if (job.finished_at !== null) return outcome(job, paint, context.io.name);
          const rows: (readonly [string, string])[] = [
            ["job", job.job_id],
            ["status", phaseOf(job)],
            ["created", job.created_at],
          ];
          const plan = planOf(job);
          if (plan !== null) rows.push(["plan", plan]);
          if (job.progress !== null) rows.push(["progress", figures(job.progress)]);
          if (job.measuring !== null) rows.push(["progress", measured(job.measuring, job.phase)]);
          return fields(rows, paint);
        });
      });
    });
}

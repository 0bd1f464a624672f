import type { Command } from "commander";
import { type CommandContext, type CommonOptions, newCommand, printerOf } from "../context.js";
import { fullId } from "../ids/full-id.js";
import { withService } from "../service/connect.js";

export function cancelCommand(context: CommandContext): Command {
  return newCommand({ name: "cancel", examples: ["cancel 01jd8z6v3m4n5p6q7r8s9t0v1w"] })
    .argument("<id>", "id of the job, the beginning of it, or latest")
    .action(async (given: string, options: CommonOptions) => {
      const printer = printerOf(context, options);
      await withService({ io: context.io, options, note: printer.note }, async ({ client }) => {
        const jobId = await fullId(given, { kind: "job", client, note: printer.note });
        await client.jobs.cancel(jobId);
        const job = await client.jobs.get(jobId);
        printer.result(job, () =>
          job.status === "cancelled" ? `Job ${jobId} is cancelled.` : `Job ${jobId} will stop at its next step.`,
        );
      });
    });
}

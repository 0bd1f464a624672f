import type { Command } from "commander";
import { type CommandContext, type CommonOptions, newCommand, printerOf } from "../context.js";
import { CommandError } from "../errors.js";
import { fullId } from "../ids/full-id.js";
import { ask, canAsk, isYes } from "../output/ask.js";
import { withService } from "../service/connect.js";

export function cancelCommand(context: CommandContext): Command {
  return newCommand({ name: "cancel", examples: ["cancel 01jd8z6v3m4n5p6q7r8s9t0v1w"] })
    .argument("<id>", "id of the job, the beginning of it, or latest")
    .action(async (given: string, options: CommonOptions) => {
      const { io } = context;
      const printer = printerOf(context, options);
      await withService({ io, options, note: printer.note }, async ({ client }) => {
        const jobId = await fullId(given, { kind: "job", client, note: printer.note });
        if (given === "latest" && canAsk(io)) {
          const { kind, status } = await client.jobs.details(jobId);
          const answer = await ask(io, `Cancel the ${status} job ${jobId} (${kind})? [y/N] `);
          if (!isYes(answer)) throw new CommandError("Nothing was cancelled.");
        }
        await client.jobs.cancel(jobId);
        const job = await client.jobs.get(jobId);
        printer.result(job, () =>
          job.status === "cancelled" ? `Job ${jobId} is cancelled.` : `Job ${jobId} will stop at its next step.`,
        );
      });
    });
}

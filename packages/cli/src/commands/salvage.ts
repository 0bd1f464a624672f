import { SalvageRequest } from "@imprint/contracts";
import type { Command } from "commander";
import { type CommandContext, type CommonOptions, newCommand, printerOf } from "../context.js";
import { checkRequest, optionOf, readFlags } from "../flags/from-schema.js";
import { fullId } from "../ids/full-id.js";
import { withService } from "../service/connect.js";
import { follow } from "../watch/follow.js";

export function salvageCommand(context: CommandContext): Command {
  const command = newCommand({
    name: "salvage",
    examples: ["salvage 01jd8z6v3m4n5p6q7r8s9t0v1w --watch", "salvage 01jd8z6v3m4n5p6q7r8s9t0v1w --adapter-id gates-half"],
  })
    .argument("<id>", "id of the job, the beginning of it, or latest")
    .option("--watch", "follow the job to its end");
  for (const [property, schema] of Object.entries(SalvageRequest.properties)) command.addOption(optionOf(property, schema));
  return command.action(async (given: string, options: CommonOptions & { watch?: boolean }) => {
    const printer = printerOf(context, options);
    const request: SalvageRequest = readFlags(SalvageRequest.properties, { ...options });
    checkRequest(SalvageRequest, request);
    await withService({ io: context.io, options, note: printer.note }, async (service) => {
      const jobId = await fullId(given, { kind: "job", client: service.client, note: printer.note });
      const start = await service.client.jobs.salvage(jobId, request);
      if (options.watch || service.own) return follow({ context, printer, service, jobId: start.job_id });
      printer.result(start, () => `Job ${start.job_id} is queued.\n  ${context.io.name} job ${start.job_id} --watch`);
    });
  });
}

import { EvaluateRequest } from "@imprint/contracts";
import type { Command } from "commander";
import { type CommandContext, type CommonOptions, newCommand, printerOf } from "../context.js";
import { CommandError } from "../errors.js";
import { checkRequest, optionOf, readFlags } from "../flags/from-schema.js";
import { fullId, storedSessions } from "../ids/full-id.js";
import { withService } from "../service/connect.js";
import { outcome } from "../watch/outcome.js";
import { watchJob } from "../watch/watch-job.js";

const { actions, seed } = EvaluateRequest.properties;
const OPTIONS = { actions, seed };

interface EvaluateOptions extends CommonOptions {
  readonly on?: readonly string[];
  readonly control?: string;
}

export function evaluateCommand(context: CommandContext): Command {
  const command = newCommand({
    name: "evaluate",
    examples: [
      "evaluate gates-v1",
      "evaluate gates-v1 --on later-session another-one",
      "evaluate latest --control other-repository --actions 0",
    ],
  })
    .argument("<adapter>", "id of the adapter, the beginning of it, or latest")
    .option("--on <session...>", "sessions to test on (default: those held out, else the newest others of the same work)")
    .option("--control <adapter>", "another adapter of the same base model, to compare with");
  for (const [name, schema] of Object.entries(OPTIONS)) command.addOption(optionOf(name, schema));
  return command.action(async (given: string, options: EvaluateOptions) => {
    const { io } = context;
    const printer = printerOf(context, options);
    const { on, control } = options;
    const flags = readFlags(OPTIONS, { ...options });
    checkRequest(EvaluateRequest, { ...flags, ...(on && { session_ids: on }) }, { session_ids: "--on" });
    await withService({ io, options, note: printer.note }, async ({ client }) => {
      const looked = { client, note: printer.note };
      const adapterId = await fullId(given, { kind: "adapter", ...looked });
      const { job_id: jobId } = await client.adapters.evaluate(adapterId, {
        ...flags,
        ...(on && { session_ids: [...(await storedSessions(on, looked))] }),
        ...(control !== undefined && { control_adapter_id: await fullId(control, { kind: "adapter", ...looked }) }),
      });
      // Its measurements are kept: nothing is lost when Ctrl-C cancels it.
      const job = await watchJob({ io, client, jobId, own: true });
      if (job === null) throw new CommandError(`Stopped watching; imprint job ${jobId} shows the evaluation.`);
      if (job.status !== "completed") throw new CommandError(outcome(job, io.paint.err, io.name), job.error?.code ?? null);
      printer.result(job.result, () => outcome(job, io.paint.out, io.name));
    });
  });
}

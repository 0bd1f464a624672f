import type { Imprint } from "@imprint/client";
import type { MemoryPlan, TrainLoraRequest } from "@imprint/contracts";
import { type Command, Option } from "commander";
import { type CommandContext, type CommonOptions, newCommand, printerOf } from "../context.js";
import { CommandError, UsageError } from "../errors.js";
import { resumeRequest, type TrainingRequest, trainingOptions, trainingRequest } from "../flags/training.js";
import { fullId, storedSessions } from "../ids/full-id.js";
import { importRecordings, provisionalIds } from "../import/recordings.js";
import { memoryOf } from "../output/memory.js";
import { type Printer, waitingFor } from "../output/printer.js";
import { namedBaseModel } from "../service/base-model.js";
import { withService } from "../service/connect.js";
import { checkFlags, follow, type WatchFlags } from "../watch/follow.js";

interface TrainOptions extends CommonOptions, WatchFlags {
  readonly method: string;
  readonly baseModel?: string;
  readonly resume?: string;
}

/** Stands for a job's id while only the flags beside it are checked. */
const ANY_JOB = "0".repeat(26);

/** What is left out is chosen so that it fits; what is asked for may not. */
const mayNotFit = ({ max_length, rank, quantization, base_model, within, target_modules }: TrainLoraRequest): boolean =>
  [max_length, rank, quantization, base_model, within, target_modules].some((value) => value !== undefined);

/** Throws a CommandError before a job is made that cannot fit. */
function requireFit(memory: MemoryPlan | null, { note }: Printer): void {
  if (memory === null) return;
  if (!memory.fits) throw new CommandError(`The training needs ${memoryOf(memory)}`, "OUT_OF_MEMORY");
  note(`takes ${memoryOf(memory)}`);
}

/** Said before anything waits for it. */
async function refuseFailed(id: string, client: Imprint): Promise<void> {
  if ((await client.sessions.get(id)).outcome !== "failure") return;
  throw new UsageError(
    `the session ${id} ended in failure: add --include-unsuccessful, or correct it with imprint label ${id} success`,
  );
}

export function trainCommand(context: CommandContext): Command {
  const command = newCommand({
    name: "train",
    examples: [
      "train harborline-gates --watch",
      "train harborline-gates --epochs 5 --rank 8 --adapter-id gates-v1",
      "train session.jsonl --base-model qwen2.5-coder-0.5b-instruct --watch",
      "train first-session second-session --train-on successful_steps",
      "train harborline-gates --method hypernetwork --watch",
      "train --resume 01jd8z6v3m4n5p6q7r8s9t0v1w --watch",
    ],
  })
    .argument("[session...]", "ids of the sessions, their beginnings, latest, or files of recorded sessions")
    .addOption(
      new Option("--method <lora|hypernetwork>", "train by QLoRA, or generate in one pass")
        .choices(["lora", "hypernetwork"])
        .default("lora"),
    )
    .option("--resume <job>", "go on with a cancelled or failed training, from its last checkpoint [lora only]")
    .option("--watch", "follow the job to its end")
    .option("--log", "with --watch: show the trainer's log");
  for (const option of trainingOptions()) command.addOption(option);
  return command.action(async (sessions: string[], options: TrainOptions) => {
    checkFlags(options);
    const printer = printerOf(context, options);
    const { resume, method } = options;
    const flags = { ...options, baseModel: await namedBaseModel(options.baseModel, options, context.io.env) };
    const requestFor = (ids: readonly string[], job = resume): TrainingRequest =>
      job === undefined ? trainingRequest(ids, method, flags) : resumeRequest(job, { sessions: ids, method, options: flags });
    // What is wrong is said before a service is looked for.
    requestFor(provisionalIds(sessions), resume && ANY_JOB);
    await withService({ io: context.io, options, note: printer.note }, async (service) => {
      const { client } = service;
      const { note } = printer;
      const named = await importRecordings(sessions, { io: context.io, client, note });
      const ids = await storedSessions(named, { client, note });
      const request = requestFor(ids, resume && (await fullId(resume, { kind: "job", client, note })));
      const [only, ...others] = ids;
      if (
        only !== undefined &&
        others.length === 0 &&
        !("include_unsuccessful" in request.body && request.body.include_unsuccessful)
      )
        await refuseFailed(only, client);
      const { train } = client;
      if (request.method === "lora" && mayNotFit(request.body)) {
        const { memory } = await waitingFor("reading what the training takes", train.preview(request.body), note);
        requireFit(memory, printer);
      }
      const start = request.method === "lora" ? await train.lora(request.body) : await train.hypernetwork(request.body);
      if (options.watch || service.own) return follow({ context, printer, service, jobId: start.job_id, log: options.log });
      printer.result(start, () => `Job ${start.job_id} is queued.\n  ${context.io.name} job ${start.job_id} --watch`);
    });
  });
}

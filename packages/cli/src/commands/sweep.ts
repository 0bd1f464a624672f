import { RESUME_FIELDS, TrainSweepRequest } from "@imprint/contracts";
import type { Command } from "commander";
import { type CommandContext, type CommonOptions, newCommand, printerOf } from "../context.js";
import { UsageError } from "../errors.js";
import { checkRequest, flagOf, optionOf, readFlags } from "../flags/from-schema.js";
import { sessionsOf } from "../flags/training.js";
import { fullId, storedSessions } from "../ids/full-id.js";
import { namedBaseModel } from "../service/base-model.js";
import { withService } from "../service/connect.js";
import { checkFlags, follow, type WatchFlags } from "../watch/follow.js";

const { session_id: _session, session_ids: _sessions, resume_from: _job, ...PROPERTIES } = TrainSweepRequest.properties;

interface SweepOptions extends CommonOptions, WatchFlags {
  readonly baseModel?: string;
  readonly resume?: string;
}

/** Stands for a job's id while only the flags beside it are checked. */
const ANY_JOB = "0".repeat(26);

/** Throws a UsageError that names the flag, or SESSION. */
function requestOf(
  sessions: readonly string[],
  { job, options }: { readonly job: string | undefined; readonly options: Readonly<Record<string, unknown>> },
): TrainSweepRequest {
  const flags = readFlags(PROPERTIES, options);
  if (job !== undefined) {
    if (sessions.length > 0) throw new UsageError("--resume takes the sessions of its sweep: leave SESSION out");
    const stray = Object.keys(flags).find((property) => !(RESUME_FIELDS as readonly string[]).includes(property));
    if (stray !== undefined)
      throw new UsageError(`${flagOf(stray)} cannot stand beside --resume, which keeps what its sweep decided`);
  } else if (sessions.length === 0)
    throw new UsageError(
      "missing required argument 'session': imprint sessions lists those stored, imprint project . takes a repository's",
    );
  if (new Set(sessions).size < sessions.length) throw new UsageError("a SESSION is named twice: each is trained on once");
  const body: TrainSweepRequest = { ...(job === undefined ? sessionsOf(sessions) : { resume_from: job }), ...flags };
  checkRequest(TrainSweepRequest, body, { session_id: "SESSION", session_ids: "SESSION", resume_from: "--resume" });
  return body;
}

export function sweepCommand(context: CommandContext): Command {
  const command = newCommand({
    name: "sweep",
    examples: [
      "sweep monday tuesday friday --rank 8,16,32 --learning-rate 1e-4,3e-4 --watch",
      "sweep monday tuesday friday --learning-rate 3e-4,1e-3,3e-3 --epochs 1,2,4 --trials 5",
      "sweep --resume 01jd8z6v3m4n5p6q7r8s9t0v1w --watch",
    ],
  })
    .argument("[session...]", "ids of the sessions, their beginnings, or latest")
    .option("--resume <job>", "go on with a cancelled or failed sweep where it was")
    .option("--watch", "follow the job to its end")
    .option("--log", "with --watch: show the trainer's log");
  for (const [property, schema] of Object.entries(PROPERTIES)) command.addOption(optionOf(property, schema));
  return command.action(async (sessions: string[], options: SweepOptions) => {
    checkFlags(options);
    const printer = printerOf(context, options);
    const { resume } = options;
    const flags = { ...options, baseModel: await namedBaseModel(options.baseModel, options, context.io.env) };
    // What is wrong is said before a service is looked for.
    requestOf(sessions, { job: resume && ANY_JOB, options: flags });
    await withService({ io: context.io, options, note: printer.note }, async (service) => {
      const { client } = service;
      const ids = await storedSessions(sessions, { client, note: printer.note });
      const job = resume && (await fullId(resume, { kind: "job", client, note: printer.note }));
      const start = await client.train.sweep(requestOf(ids, { job, options: flags }));
      if (options.watch || service.own) return follow({ context, printer, service, jobId: start.job_id, log: options.log });
      printer.result(start, () => `Job ${start.job_id} is queued.\n  ${context.io.name} job ${start.job_id} --watch`);
    });
  });
}

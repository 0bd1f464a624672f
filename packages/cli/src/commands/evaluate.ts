import { EvaluateRequest, Strict, TaskMeasurements } from "@imprint/contracts";
import type { Command } from "commander";
import { type CommandContext, type CommonOptions, newCommand, printerOf } from "../context.js";
import { CommandError, UsageError } from "../errors.js";
import { checkRequest, optionOf, readFlags } from "../flags/from-schema.js";
import { fullId, storedSessions } from "../ids/full-id.js";
import { AGENTS, agentOf } from "../launch/agents.js";
import { unpainted } from "../output/paint.js";
import { tasksText } from "../output/tasks.js";
import { configFor, withService } from "../service/connect.js";
import { evaluateTasks } from "../tasks/run/evaluate-tasks.js";
import { installed } from "../tasks/run/installed.js";
import { findSandbox } from "../tasks/sandbox/find.js";
import { readTasks } from "../tasks/task-file.js";
import { outcome } from "../watch/outcome.js";
import { watchJob } from "../watch/watch-job.js";

const { actions, seed } = EvaluateRequest.properties;
const OPTIONS = { actions, seed };
const TASK_OPTIONS = { seeds: TaskMeasurements.properties.seeds };

interface EvaluateOptions extends CommonOptions {
  readonly on?: readonly string[];
  readonly control?: string;
  readonly tasks?: string;
  readonly agent?: string;
  readonly seeds?: string;
  readonly sandbox: boolean;
}

/** Agents whose API takes no seed. */
const SEEDLESS = ["codex", "claude"];

/** What belongs to the other way of evaluating is refused, not ignored. */
function refuseMixed(options: EvaluateOptions): void {
  const { on, agent, seeds, sandbox, tasks, ...rest } = options;
  const given = { "--on": on !== undefined, "--actions": "actions" in rest, "--seed": "seed" in rest };
  const ofTasks = { "--agent": agent !== undefined, "--seeds": seeds !== undefined, "--no-sandbox": !sandbox };
  const stray = Object.entries(tasks === undefined ? ofTasks : given).find(([, isGiven]) => isGiven);
  if (stray === undefined) return;
  throw new UsageError(
    `${stray[0]} ${tasks === undefined ? "goes with --tasks" : "is of evaluations on sessions: leave it out with --tasks"}`,
  );
}

/** Runs an agent on tasks; what is measured stays measured, whatever ends it. */
async function onTasks(
  context: CommandContext,
  given: string,
  options: EvaluateOptions & { readonly tasks: string },
): Promise<void> {
  const { io } = context;
  const printer = printerOf(context, options);
  const { agent: name = "mini", control } = options;
  const agent = agentOf(name, "--agent");
  const asked = { seeds: 1, ...readFlags(TASK_OPTIONS, { seeds: options.seeds }) };
  checkRequest(Strict(TASK_OPTIONS), asked);
  const { seeds } = asked;
  if (seeds > 1 && SEEDLESS.includes(name)) throw new UsageError(`--seeds is 1 with ${name}, whose requests take no seed`);
  const tasks = await readTasks(options.tasks);
  const found = installed(agent, io.env);
  const sandbox = await findSandbox({ io, noSandbox: !options.sandbox });
  const stopping = new AbortController();
  await withService({ io, options, note: printer.note }, async ({ client, url }) => {
    const looked = { client, note: printer.note };
    const adapterId = await fullId(given, { kind: "adapter", ...looked });
    const controlId = control === undefined ? null : await fullId(control, { kind: "adapter", ...looked });
    const { token } = configFor(options, io.env);
    const release = io.onInterrupt(() => stopping.abort());
    try {
      const report = await evaluateTasks({
        ...{ client, service: { url, token }, sandbox, agent, installed: found, signal: stopping.signal },
        ...{ adapterId, controlId, tasks, seeds, note: printer.note },
      });
      if (report.verdict === null && stopping.signal.aborted)
        throw new CommandError(`Stopped. ${report.sentence} The same command goes on with the others.`);
      printer.result(report, () => tasksText(report, io.paint.out));
    } finally {
      release();
    }
  });
}

export function evaluateCommand(context: CommandContext): Command {
  const command = newCommand({
    name: "evaluate",
    examples: [
      "evaluate gates-v1",
      "evaluate gates-v1 --on later-session another-one",
      "evaluate latest --control other-repository --actions 0",
      "evaluate gates-v1 --tasks tasks --agent opencode",
    ],
  })
    .argument("<adapter>", "id of the adapter, the beginning of it, or latest")
    .option("--on <session...>", "sessions to test on (default: those held out, else the newest others of the same work)")
    .option("--control <adapter>", "another adapter of the same base model, to compare with")
    .option("--tasks <folder>", "let an agent try the tasks of a folder instead: with the adapter, and without it")
    .option("--agent <name>", `with --tasks: ${Object.keys(AGENTS).join(", ")} (default: mini)`)
    .option(
      "--seeds <n>",
      "with --tasks: times that each task is tried, first with the likeliest words, then sampled (default: 1)",
    )
    .option("--no-sandbox", "with --tasks: let agents and checks do what they like on this machine");
  for (const [name, schema] of Object.entries(OPTIONS)) command.addOption(optionOf(name, schema));
  return command.action(async (given: string, options: EvaluateOptions) => {
    refuseMixed(options);
    const { on, control, tasks } = options;
    if (tasks !== undefined) return onTasks(context, given, { ...options, tasks });
    const { io } = context;
    const printer = printerOf(context, options);
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
      if (job.status !== "completed") throw new CommandError(outcome(job, unpainted, io.name), job.error?.code ?? null);
      printer.result(job.result, () => outcome(job, io.paint.out, io.name));
    });
  });
}

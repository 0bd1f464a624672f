import type { Imprint } from "@imprint/client";
import { isRunning, latestOf, ProjectRunRequest } from "@imprint/contracts";
import type { Command } from "commander";
import { type CommandContext, type CommonOptions, newCommand, printerOf } from "../context.js";
import { UsageError } from "../errors.js";
import { walk } from "../files/walk.js";
import { checkRequest, optionOf, readFlags } from "../flags/from-schema.js";
import { fullId, storedSessions } from "../ids/full-id.js";
import type { Printer } from "../output/printer.js";
import { projectText, runText } from "../output/project.js";
import { followRun } from "../project/follow-run.js";
import { absolute, importMembers, sessionsIn } from "../project/import-members.js";
import { watchProject } from "../project/watch-project.js";
import { namedBaseModel } from "../service/base-model.js";
import { type Service, withService } from "../service/connect.js";

const { session_ids: _sessions, folders: _folders, ...TRAINING } = ProjectRunRequest.properties;

interface ProjectOptions extends CommonOptions {
  readonly from?: readonly string[];
  readonly sessions?: readonly string[];
  readonly run?: boolean;
  readonly watch?: boolean;
  readonly rollback?: string | true;
  readonly baseModel?: string;
}

interface Asked {
  readonly context: CommandContext;
  readonly printer: Printer;
  readonly service: Service;
  readonly name: string;
  readonly options: ProjectOptions;
}

async function show({ context: { io }, printer, service, name }: Asked): Promise<void> {
  const project = await service.client.projects.get(name);
  printer.result(project, () => projectText(project, { paint: io.paint.out, name: io.name }));
}

async function rollBack({ context, printer, service, name, options: { rollback } }: Asked): Promise<void> {
  const { client } = service;
  const target = async (given: string) =>
    /^\d{1,9}$/.test(given)
      ? { run: Number(given) }
      : { adapter_id: await fullId(given, { kind: "adapter", client, note: printer.note }) };
  const project = await client.projects.rollback(name, typeof rollback === "string" ? await target(rollback) : {});
  const { latest, runs } = project;
  const run = runs.find(({ adapter_id }) => adapter_id === latest?.adapter_id);
  printer.result(project, () => {
    const about = run === undefined ? "" : `, of run ${run.run}${run.sentence === null ? "" : `\n${run.sentence}`}`;
    return `${context.io.paint.out("bold", latestOf(name))} is ${latest?.adapter_id} now${about}`;
  });
}

/** The sessions that a run is to take in: what the folders hold, and those that are named. */
async function membersOf({ context: { io, state }, printer, service, options }: Asked): Promise<readonly string[]> {
  const { client } = service;
  const { from, sessions = [] } = options;
  const named = await storedSessions(sessions, { client, note: printer.note });
  if (from === undefined) return named;
  const files = await importMembers({ io, folders: from, client, note: printer.note });
  if (files.some(({ status }) => status === "failed")) state.exitCode = 1;
  return [...new Set([...named, ...sessionsIn(files)])];
}

async function runOnce(asked: Asked, flags: ProjectRunRequest): Promise<void> {
  const { context, printer, service, name, options } = asked;
  const { io, state } = context;
  const { client, own } = service;
  const session_ids = [...(await membersOf(asked))];
  const request = {
    ...flags,
    ...(session_ids.length > 0 && { session_ids }),
    ...(options.from && { folders: absolute(options.from) }),
  };
  const { run, sentence } = await client.projects.run(name, request);
  if (run === null) {
    const { latest } = await client.projects.get(name);
    return printer.result({ run, sentence, latest }, () => sentence);
  }
  printer.note(sentence);
  const followed = await followRun({ io, client, own, name, number: run.run, note: printer.note });
  if (followed === null) {
    state.exitCode = 1;
    return printer.result(
      { run, sentence, watching: false },
      () => `Stopped watching. The run goes on: ${io.name} project ${name}`,
    );
  }
  if (followed.run.status !== "completed") state.exitCode = 1;
  const { project } = followed;
  printer.result({ run: followed.run, sentence, latest: project.latest }, () =>
    runText(project, followed.run, { paint: io.paint.out, name: io.name }),
  );
}

/** What is watched: the folders that are named, else those of the last time. */
async function foldersOf(name: string, { from }: ProjectOptions, client: Imprint): Promise<readonly string[]> {
  const folders = from ?? (await client.projects.get(name)).folders;
  if (folders.length === 0) throw new UsageError(`the project ${name} has no folder yet: name it with --from`);
  return folders;
}

async function watch({ context, printer, service, name, options }: Asked, flags: ProjectRunRequest): Promise<void> {
  const { io, state } = context;
  const folders = await foldersOf(name, options, service.client);
  const runs = await watchProject({
    io,
    service,
    name,
    folders,
    request: { ...flags, folders: absolute(folders) },
    note: printer.note,
    onRun: ({ project, run }) => printer.note(runText(project, run, { paint: io.paint.err, name: io.name })),
  });
  if (runs.some((run) => !isRunning(run) && run.status === "failed")) state.exitCode = 1;
  printer.result(
    { runs },
    () => `${runs.length} ${runs.length === 1 ? "run" : "runs"} of ${name}. ${io.name} project ${name} shows them.`,
  );
}

/** Throws a UsageError for options that exclude each other. */
function checkOptions({ rollback, watch: isWatch, from, sessions, run }: ProjectOptions, flags: object): void {
  const runs = from !== undefined || sessions !== undefined || run === true || isWatch === true || Object.keys(flags).length > 0;
  if (rollback !== undefined && runs) throw new UsageError("--rollback stands alone: it trains nothing");
  if (isWatch === true && (sessions !== undefined || run === true))
    throw new UsageError("--watch takes its sessions from folders: leave --sessions and --run out");
}

export function projectCommand(context: CommandContext): Command {
  const command = newCommand({
    name: "project",
    examples: [
      "project shop --from ~/.claude/projects/-home-me-shop",
      "project shop --from ~/.claude/projects/-home-me-shop --watch",
      "project shop",
      "project shop --rollback",
      "chat shop@latest",
    ],
  })
    .argument("<name>", "name of the project: its adapters are NAME-1, NAME-2, ..., the one to use NAME@latest")
    .option("--from <folder...>", "folders of its recordings: imports them, trains on what is new, and tests on the newest")
    .option("--sessions <session...>", "stored sessions that belong to it too")
    .option("--run", "train on what it has, without looking for recordings; goes on with a run that did not end")
    .option("--watch", "go on and run whenever sessions have ended, until Ctrl-C")
    .option("--rollback [adapter|run]", "point NAME@latest at an earlier adapter: the one before, or this one");
  for (const [property, schema] of Object.entries(TRAINING)) command.addOption(optionOf(property, schema));
  return command.action(async (name: string, options: ProjectOptions) => {
    const { io } = context;
    const printer = printerOf(context, options);
    const flags = readFlags(TRAINING, { ...options, baseModel: await namedBaseModel(options.baseModel, options, io.env) });
    checkOptions(options, flags);
    checkRequest(ProjectRunRequest, flags);
    // A path that is not there is said before a service is looked for.
    await walk(options.from ?? []);
    await withService({ io, options, note: printer.note }, async (service) => {
      const asked: Asked = { context, printer, service, name, options };
      if (options.rollback !== undefined) return rollBack(asked);
      if (options.watch) return watch(asked, flags);
      const runs = options.from !== undefined || options.sessions !== undefined || options.run || Object.keys(flags).length > 0;
      return runs ? runOnce(asked, flags) : show(asked);
    });
  });
}

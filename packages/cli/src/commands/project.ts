import { NotFoundError } from "@imprint/client";
import { isRunning, latestOf, type Project, ProjectRunRequest } from "@imprint/contracts";
import { type Command, Option } from "commander";
import { type CommandContext, type CommonOptions, newCommand, printerOf } from "../context.js";
import { UsageError } from "../errors.js";
import { walk } from "../files/walk.js";
import { checkRequest, optionOf, readFlags } from "../flags/from-schema.js";
import { fullId, storedSessions } from "../ids/full-id.js";
import { unpainted } from "../output/paint.js";
import type { Printer } from "../output/printer.js";
import { projectText, runText } from "../output/project.js";
import { followRun } from "../project/follow-run.js";
import { absolute, importMembers, oneRepository, sessionsIn } from "../project/import-members.js";
import { isPlace, projectNameAt, type Scope, scopeOf } from "../project/scope.js";
import { watchProject } from "../project/watch-project.js";
import { WHEN, type When } from "../project/when.js";
import { namedBaseModel } from "../service/base-model.js";
import { type Service, withService } from "../service/connect.js";

const { session_ids: _sessions, folders: _folders, ...TRAINING } = ProjectRunRequest.properties;

interface ProjectOptions extends CommonOptions {
  readonly from?: readonly string[];
  readonly sessions?: readonly string[];
  readonly run?: boolean;
  readonly watch?: boolean;
  readonly when?: When;
  readonly rollback?: string | true;
  readonly baseModel?: string;
}

interface Asked {
  readonly context: CommandContext;
  readonly printer: Printer;
  readonly service: Service;
  readonly name: string;
  readonly options: ProjectOptions;
  /** Null: what its folders hold belongs to it. */
  readonly scope: Scope | null;
  /** Folders that are named, or that follow from a repository that is. */
  readonly from: readonly string[] | undefined;
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
async function membersOf(asked: Asked): Promise<readonly string[]> {
  const {
    context: { io, state },
    printer: { note },
    service: { client },
    options: { sessions = [] },
    ...project
  } = asked;
  const { name, scope, from } = project;
  const named = await storedSessions(sessions, { client, note });
  if (from === undefined) return named;
  const files = await importMembers({ io, folders: from, client, note, scope });
  if (files.some(({ status }) => status === "failed")) state.exitCode = 1;
  const choose = scope === null ? oneRepository(name, note) : sessionsIn;
  return [...new Set([...named, ...choose(files)])];
}

async function runOnce(asked: Asked, flags: ProjectRunRequest): Promise<void> {
  const { context, printer, service, name, from } = asked;
  const { io, state } = context;
  const { client, own } = service;
  const session_ids = [...(await membersOf(asked))];
  const request = { ...flags, ...(session_ids.length > 0 && { session_ids }), ...(from && { folders: absolute(from) }) };
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
async function foldersOf({ name, from, service: { client } }: Asked): Promise<readonly string[]> {
  const folders = from ?? (await client.projects.get(name)).folders;
  if (folders.length === 0) throw new UsageError(`the project ${name} has no folder yet: name it with --from`);
  return folders;
}

async function watch(asked: Asked, flags: ProjectRunRequest): Promise<void> {
  const { context, printer, service, name, scope, options } = asked;
  const { io, state } = context;
  const folders = await foldersOf(asked);
  const runs = await watchProject({
    io,
    service,
    name,
    folders,
    scope,
    when: options.when ?? "now",
    request: { ...flags, folders: absolute(folders) },
    note: printer.note,
    onRun: ({ project, run }) => printer.note(runText(project, run, { paint: unpainted, name: io.name })),
  });
  if (runs.some((run) => !isRunning(run) && run.status === "failed")) state.exitCode = 1;
  printer.result(
    { runs },
    () => `${runs.length} ${runs.length === 1 ? "run" : "runs"} of ${name}. ${io.name} project ${name} shows them.`,
  );
}

/** Throws a UsageError for options that exclude each other. */
function checkOptions({ rollback, watch: isWatch, from, sessions, run, when }: ProjectOptions, flags: object): void {
  const runs = from !== undefined || sessions !== undefined || run === true || isWatch === true || Object.keys(flags).length > 0;
  if (rollback !== undefined && runs) throw new UsageError("--rollback stands alone: it trains nothing");
  if (isWatch === true && (sessions !== undefined || run === true))
    throw new UsageError("--watch takes its sessions from folders: leave --sessions and --run out");
  if (when !== undefined && isWatch !== true) throw new UsageError("--when says when --watch trains: add --watch");
}

/** The project as it is stored; null where there is none yet. */
const stored = (service: Service, name: string): Promise<Project | null> =>
  service.client.projects.get(name).catch((error: unknown) => {
    if (error instanceof NotFoundError) return null;
    throw error;
  });

/** Which recordings are the project's: of the repository that is named, or was, and where they are looked for. */
async function placesOf(
  { context: { io }, service, name, options }: Pick<Asked, "context" | "service" | "name" | "options">,
  scope: Scope | null,
): Promise<Pick<Asked, "scope" | "from">> {
  const walks = scope !== null || options.from !== undefined || options.watch === true;
  const before = walks ? (await stored(service, name))?.settings.repository : undefined;
  if (scope === null) return { scope: before === undefined ? null : await scopeOf(before), from: options.from };
  if (before !== undefined && before !== scope.repository && isPlace(before) && isPlace(scope.repository))
    throw new UsageError(
      `the project ${name} is of ${before}: call this one otherwise, ${io.name} project NAME --repository ${scope.repository}`,
    );
  const from = options.from ?? (await scope.places(io.env));
  if (from.length === 0) throw new UsageError("no agent has recordings on this machine: name a folder with --from");
  return { scope, from };
}

export function projectCommand(context: CommandContext): Command {
  const command = newCommand({
    name: "project",
    examples: [
      "project . --watch --when idle",
      "project shop --from ~/.codex/sessions --repository shop",
      "project shop",
      "project shop --rollback",
      "chat shop@latest",
    ],
  })
    .argument(
      "<name>",
      "name of the project: its adapters are NAME-1, NAME-2, ..., the one to use NAME@latest; or a folder: the project of its repository, with every known agent's recordings in it",
    )
    .option("--from <folder...>", "folders of its recordings: imports them, trains on what is new, and tests on the newest")
    .option("--sessions <session...>", "stored sessions that belong to it too")
    .option("--run", "train on what it has, without looking for recordings; goes on with a run that did not end")
    .option("--watch", "go on and run whenever sessions have ended, until Ctrl-C")
    .addOption(
      new Option(
        "--when <when>",
        `when --watch trains: ${WHEN.now} (now, the default), ${WHEN.night}, or ${WHEN.idle} (idle); when that ends, a run stops and goes on the next time`,
      ).choices(Object.keys(WHEN)),
    )
    .option("--rollback [adapter|run]", "point NAME@latest at an earlier adapter: the one before, or this one");
  for (const [property, schema] of Object.entries(TRAINING)) command.addOption(optionOf(property, schema));
  return command.action(async (given: string, options: ProjectOptions) => {
    const { io } = context;
    const printer = printerOf(context, options);
    const isFolder = isPlace(given);
    const name = isFolder ? await projectNameAt(given) : given;
    const read = readFlags(TRAINING, { ...options, baseModel: await namedBaseModel(options.baseModel, options, io.env) });
    const repository = read.repository ?? (isFolder && options.rollback === undefined ? given : undefined);
    const own = repository === undefined ? null : await scopeOf(String(repository));
    const flags = own === null ? read : { ...read, repository: own.repository };
    checkOptions(options, flags);
    checkRequest(ProjectRunRequest, flags);
    // A path that is not there is said before a service is looked for.
    await walk(options.from ?? []);
    await withService({ io, options, note: printer.note }, async (service) => {
      const runs = options.from !== undefined || options.sessions !== undefined || options.run || Object.keys(flags).length > 0;
      const about = { context, printer, service, name, options };
      const places = runs || options.watch ? await placesOf(about, own) : { scope: null, from: undefined };
      const asked: Asked = { ...about, ...places };
      if (options.rollback !== undefined) return rollBack(asked);
      if (options.watch) return watch(asked, flags);
      return runs ? runOnce(asked, flags) : show(asked);
    });
  });
}

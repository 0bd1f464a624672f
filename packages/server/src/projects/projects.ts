import {
  latestOf,
  PROJECT_DEFAULTS,
  type Project,
  ProjectName,
  type ProjectRunRequest,
  type ProjectRunStart,
  ProjectSettings,
  type ProjectSummary,
  type RollbackRequest,
  refusalBy,
} from "@imprint/contracts";
import { matches } from "@imprint/contracts/fields";
import type { Clock } from "../common/clock.js";
import { fieldRefused, ImprintError, type Log, quote } from "../common/error.js";
import { createKeyedLock } from "../common/keyed-lock.js";
import type { Source } from "../events/history.js";
import { requireBaseModel } from "../launch/start.js";
import { findAdapter, isAdapterIdTaken } from "../registry/adapters.js";
import { dropAlias, pointAlias } from "../registry/aliases.js";
import type { Transaction } from "../storage/schema.js";
import { inTransaction } from "../storage/transaction.js";
import { type Chosen, chooseForRun } from "./choose.js";
import { createProjectFeeds } from "./events.js";
import { readMembers } from "./members.js";
import {
  earlierThanLatest,
  findRecord,
  learnedBy,
  membersOf,
  type ProjectRecord,
  type ProjectRow,
  putMembers,
  putProject,
  type RunRow,
  removeProject,
  runsOf,
  runUnderWay,
  seenBy,
} from "./rows.js";
import type { RunDeps } from "./run-jobs.js";
import { createRuns, jobOf } from "./runs.js";
import { toProject, toRun, toSummaries } from "./view.js";

/** Projects: sessions that belong together, and the adapters that were trained on them, one after the other. */
export interface Projects {
  list(): Promise<ProjectSummary[]>;
  /** @throws ImprintError PROJECT_NOT_FOUND */
  get(name: string): Promise<Project>;
  /**
   * Begins a run, or goes on with the last one where it did not end and nothing has changed since.
   * @throws ImprintError PROJECT_NOT_FOUND, PROJECT_BUSY, and what sessions, base model and queue are refused with
   */
  start(name: string, request: ProjectRunRequest): Promise<ProjectRunStart>;
  /** @throws ImprintError PROJECT_NOT_FOUND or ROLLBACK_IMPOSSIBLE */
  rollback(name: string, request: RollbackRequest): Promise<Project>;
  /** Forgets a project and what its latest was; sessions and adapters stay. @throws ImprintError PROJECT_NOT_FOUND or PROJECT_BUSY */
  remove(name: string): Promise<void>;
  /** @throws ImprintError PROJECT_NOT_FOUND */
  source(name: string): Promise<Source>;
  /** Takes runs that an earlier service left as far as their jobs have come; before anything is asked. */
  recover(): Promise<void>;
  close(): Promise<void>;
}

export interface ProjectsOptions extends RunDeps {
  readonly clock: Clock;
  readonly closing: AbortSignal;
  readonly log: Log;
}

const projectNotFound = (name: string): ImprintError =>
  new ImprintError("PROJECT_NOT_FOUND", `There is no project ${quote(name)}.`);

const projectBusy = (run: RunRow): ImprintError =>
  new ImprintError("PROJECT_BUSY", `Run ${run.run} of ${run.project} is ${run.status} (job ${jobOf(run)}).`);

const rollbackImpossible = (sentence: string): ImprintError => new ImprintError("ROLLBACK_IMPOSSIBLE", sentence);

/** Ends after which the same run can go on. */
const GOES_ON: ReadonlySet<string> = new Set(["failed", "cancelled", "interrupted"]);

const settingsIn = (request: ProjectRunRequest): ProjectSettings => {
  const known = Object.keys(ProjectSettings.properties);
  return Object.fromEntries(Object.entries(request).filter(([name]) => known.includes(name))) as ProjectSettings;
};

/** In one order, whatever order they were given in. */
const sorted = (settings: ProjectSettings): ProjectSettings =>
  Object.fromEntries(Object.entries(settings).toSorted(([a], [b]) => (a < b ? -1 : 1))) as ProjectSettings;

const plural = (amount: number, noun: string): string => `${amount} ${noun}${amount === 1 ? "" : "s"}`;

const sentenceOf = ({ run, project, adapter_id, status, chosen }: RunRow): string => {
  const replayed = chosen.replayed.length === 0 ? "" : ` and ${chosen.replayed.length} learned before`;
  const tested = `tested on ${chosen.held_out.map(({ session_id }) => session_id).join(", ")}`;
  const trained = `${plural(chosen.new.length, "new session")}${replayed}`;
  return status === "evaluating"
    ? `Run ${run} of ${project} goes on: ${adapter_id} is ${tested}.`
    : `Run ${run} of ${project}: ${adapter_id} is trained on ${trained}, and ${tested}.`;
};

export const createProjects = ({ clock, closing, log, ...services }: ProjectsOptions): Projects => {
  const { deps, jobs, random } = services;
  const { database, models, now } = deps;
  const lock = createKeyedLock();
  const feeds = createProjectFeeds({ clock });
  const runs = createRuns({ ...services, lock, onChange: feeds.tell, closing, clock, log });

  const find = async (name: string): Promise<ProjectRecord | null> =>
    matches(ProjectName, name) ? inTransaction(database, (db) => findRecord(db, name)) : null;

  const require = async (name: string): Promise<ProjectRecord> => {
    const record = await find(name);
    if (!record) throw projectNotFound(name);
    return record;
  };

  const show = async (name: string): Promise<Project> => {
    const { project } = await require(name);
    return inTransaction(database, (db) => toProject(db, project));
  };

  /** The project as a request wants it, whether it is there or not. */
  const wanted = async (name: string, request: ProjectRunRequest): Promise<ProjectRecord> => {
    if (!matches(ProjectName, name)) throw fieldRefused("name", refusalBy((ProjectName as { pattern?: string }).pattern));
    const record = await find(name);
    if (!record && !request.session_ids?.length) throw projectNotFound(name);
    const running = record && runUnderWay(record);
    if (running) throw projectBusy(running);
    const base_model =
      record && request.base_model === undefined ? record.project.base_model : requireBaseModel(request.base_model, models).name;
    if (record && record.project.base_model !== base_model)
      throw fieldRefused(
        "base_model",
        `is ${record.project.base_model} for the project ${name}: choose another name for another base model`,
      );
    const project: ProjectRow = {
      name,
      base_model,
      folders: request.folders ?? record?.project.folders ?? [],
      settings: sorted({ ...record?.project.settings, ...settingsIn(request) }),
      created_at: record?.project.created_at ?? now().toISOString(),
    };
    return { runs: [], latest: null, ...record, project };
  };

  /** The next number whose adapter's id is free: ids are written once. */
  const nextRun = async ({ project, runs: [last] }: ProjectRecord): Promise<Pick<RunRow, "run" | "adapter_id">> => {
    for (let run = (last?.run ?? 0) + 1; ; run += 1) {
      const adapter_id = `${project.name}-${run}`;
      const taken = await inTransaction(database, (db) => isAdapterIdTaken(db, adapter_id));
      if (!taken && !jobs.isReserved(adapter_id)) return { run, adapter_id };
    }
  };

  /** The last run where it can go on: it did not end, and would be the same again. */
  const unended = async ({ project, runs: [last] }: ProjectRecord, chosen: Chosen) => {
    if (!last || !GOES_ON.has(last.status) || last.chosen.basis !== chosen.basis) return null;
    const { adapter_id } = last;
    const made = await inTransaction(database, (db) => findAdapter(db, adapter_id));
    if (made) return made.metadata.project === project.name ? { run: last, from: "evaluating" as const } : null;
    if (jobs.isReserved(adapter_id) || (await inTransaction(database, (db) => isAdapterIdTaken(db, adapter_id)))) return null;
    // What failed with one seed may not with another; what was stopped is the same again.
    const run = last.status === "failed" ? { ...last, seed: random.seed() } : last;
    return { run, from: "training" as const };
  };

  const start = async (name: string, request: ProjectRunRequest): Promise<ProjectRunStart> => {
    await runs.advance(name);
    const record = await wanted(name, request);
    const { project } = record;
    const { include_unsuccessful: includeUnsuccessful = false, replay_tokens: replayTokens = PROJECT_DEFAULTS.replay_tokens } =
      project.settings;
    const known = await inTransaction(database, (db) => membersOf(db, name));
    const add = request.session_ids ?? [];
    const { members, changed } = await readMembers({ project: name, known, add, includeUnsuccessful }, deps.sessions);
    const putWanted = async (db: Transaction): Promise<void> => {
      await putProject(db, project);
      await putMembers(db, changed);
    };
    const seed = request.seed ?? random.seed();
    const { settings, base_model } = project;
    const chosen = chooseForRun({
      members,
      seen: seenBy(record.runs),
      learned: learnedBy(record),
      replayTokens,
      seed,
      settings: [settings, base_model],
    });
    if ("reason" in chosen) {
      await runs.change(name, putWanted);
      return { run: null, sentence: `Nothing to train for ${name}: ${chosen.reason}.` };
    }
    const earlier = request.seed === undefined ? await unended(record, chosen) : null;
    const fresh = async (): Promise<RunRow> => ({
      ...(await nextRun(record)),
      project: name,
      status: "training",
      chosen,
      seed,
      train_job_id: null,
      evaluate_job_id: null,
      verdict: null,
      sentence: null,
      figures: null,
      moved: false,
      error: null,
      created_at: now().toISOString(),
      finished_at: null,
    });
    const run = await runs.begin(earlier?.run ?? (await fresh()), {
      record,
      status: earlier?.from ?? "training",
      others: putWanted,
    });
    return { run: toRun(run), sentence: sentenceOf(run) };
  };

  /** The run that a roll-back names; without a name the one before the latest whose adapter is still there. */
  const targetOf = async (record: ProjectRecord, { adapter_id, run }: RollbackRequest): Promise<RunRow> => {
    const { name } = record.project;
    const isThere = async (one: RunRow): Promise<boolean> =>
      (await inTransaction(database, (db) => findAdapter(db, one.adapter_id))) !== null;
    if (adapter_id !== undefined || run !== undefined) {
      const named = record.runs.find((one) => (adapter_id === undefined ? one.run === run : one.adapter_id === adapter_id));
      if (named && (await isThere(named))) return named;
      const what = adapter_id ?? `run ${run}`;
      throw rollbackImpossible(
        named ? `The adapter ${named.adapter_id} is not registered.` : `${what} is none of the project ${name}.`,
      );
    }
    for (const one of earlierThanLatest(record)) if (await isThere(one)) return one;
    throw rollbackImpossible(`The project ${name} has no earlier adapter that is still registered.`);
  };

  return {
    list: () => inTransaction(database, toSummaries),
    get: show,
    start: (name, request) => lock([name], () => start(name, request)),
    rollback: (name, request) =>
      lock([name], async () => {
        if (request.adapter_id !== undefined && request.run !== undefined)
          throw fieldRefused("run", "cannot stand beside adapter_id");
        const { adapter_id: adapterId } = await targetOf(await require(name), request);
        await runs.change(name, (db) => pointAlias(db, { alias: latestOf(name), adapterId, at: now().toISOString() }));
        return show(name);
      }),
    remove: (name) =>
      lock([name], async () => {
        await runs.advance(name);
        await inTransaction(database, async (db) => {
          const running = runUnderWay({ runs: await runsOf(db, name) });
          if (running) throw projectBusy(running);
          if (!(await removeProject(db, name))) throw projectNotFound(name);
          await dropAlias(db, latestOf(name));
        });
        feeds.end(name);
      }),
    source: async (name) => feeds.sourceOf(await show(name)),
    recover: runs.recover,
    close: runs.close,
  };
};

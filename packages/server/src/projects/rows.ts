import {
  type ErrorDetail,
  type EvaluationVerdict,
  latestOf,
  type ProjectFigures,
  type ProjectRunStatus,
  type ProjectSettings,
} from "@imprint/contracts";
import type { Selectable } from "kysely";
import { type Alias, findAlias } from "../registry/aliases.js";
import type { ProjectRunTable, ProjectSessionTable, ProjectTable, Transaction } from "../storage/schema.js";
import type { Chosen, Picked } from "./choose.js";

export interface ProjectRow {
  readonly name: string;
  readonly base_model: string;
  readonly folders: readonly string[];
  readonly settings: ProjectSettings;
  readonly created_at: string;
}

/** A run as it is stored. */
export interface RunRow {
  readonly project: string;
  readonly run: number;
  readonly adapter_id: string;
  readonly status: ProjectRunStatus;
  readonly chosen: Chosen;
  readonly seed: number;
  readonly train_job_id: string | null;
  readonly evaluate_job_id: string | null;
  readonly verdict: EvaluationVerdict | null;
  readonly sentence: string | null;
  readonly figures: ProjectFigures | null;
  readonly moved: boolean;
  readonly error: ErrorDetail | null;
  readonly created_at: string;
  readonly finished_at: string | null;
}

export type MemberRow = Selectable<ProjectSessionTable>;

const parsed = <T>(text: string | null): T | null => (text === null ? null : (JSON.parse(text) as T));
const written = (value: unknown): string | null => (value === null ? null : JSON.stringify(value));

const projectOf = ({ name, base_model, folders, settings, created_at }: Selectable<ProjectTable>): ProjectRow => ({
  name,
  base_model,
  folders: JSON.parse(folders) as string[],
  settings: JSON.parse(settings) as ProjectSettings,
  created_at,
});

const runOf = ({ seq: _order, chosen, figures, error, moved, status, verdict, ...row }: Selectable<ProjectRunTable>): RunRow => ({
  ...row,
  run: Number(row.run),
  seed: Number(row.seed),
  status: status as ProjectRunStatus,
  chosen: JSON.parse(chosen) as Chosen,
  verdict: verdict as EvaluationVerdict | null,
  figures: parsed<ProjectFigures>(figures),
  error: parsed<ErrorDetail>(error),
  moved: Number(moved) === 1,
});

export const findProject = async (db: Transaction, name: string): Promise<ProjectRow | null> => {
  const row = await db.selectFrom("projects").selectAll().where("name", "=", name).executeTakeFirst();
  return row ? projectOf(row) : null;
};

/** Newest first. */
export const listProjects = async (db: Transaction): Promise<readonly ProjectRow[]> =>
  (await db.selectFrom("projects").selectAll().orderBy("seq", "desc").execute()).map(projectOf);

/** Stores a project, or what it is now. */
export const putProject = async (db: Transaction, { folders, settings, ...row }: ProjectRow): Promise<void> => {
  const changing = { folders: JSON.stringify(folders), settings: JSON.stringify(settings) };
  await db
    .insertInto("projects")
    .values({ ...row, ...changing })
    .onConflict((conflict) => conflict.column("name").doUpdateSet(changing))
    .execute();
};

export const membersOf = async (db: Transaction, project: string): Promise<readonly MemberRow[]> => {
  const rows = await db.selectFrom("project_sessions").selectAll().where("project", "=", project).execute();
  return rows.map((row) => ({ ...row, characters: Number(row.characters) }));
};

const ROWS_AT_ONCE = 500;

export const putMembers = async (db: Transaction, members: readonly MemberRow[]): Promise<void> => {
  for (let at = 0; at < members.length; at += ROWS_AT_ONCE)
    await db
      .insertInto("project_sessions")
      .values(members.slice(at, at + ROWS_AT_ONCE))
      .onConflict((conflict) =>
        conflict
          .columns(["project", "session_id"])
          .doUpdateSet(({ ref }) => ({
            sha256: ref("excluded.sha256"),
            content: ref("excluded.content"),
            opening: ref("excluded.opening"),
            at: ref("excluded.at"),
            characters: ref("excluded.characters"),
          })),
      )
      .execute();
};

/** Newest first. */
export const runsOf = async (db: Transaction, project: string): Promise<readonly RunRow[]> =>
  (await db.selectFrom("project_runs").selectAll().where("project", "=", project).orderBy("run", "desc").execute()).map(runOf);

/** Stores a run, or what became of it. A second unfinished one of a project is refused by the database. */
export const putRun = async (db: Transaction, { chosen, figures, error, moved, ...row }: RunRow): Promise<void> => {
  const {
    project: _project,
    run: _run,
    created_at: _at,
    ...changing
  } = { ...row, chosen: JSON.stringify(chosen), figures: written(figures), error: written(error), moved: moved ? 1 : 0 };
  await db
    .insertInto("project_runs")
    .values({ ...row, ...changing })
    .onConflict((conflict) => conflict.columns(["project", "run"]).doUpdateSet(changing))
    .execute();
};

/** Removes a project with its runs and what it knows of its sessions. False where there is none. */
export const removeProject = async (db: Transaction, name: string): Promise<boolean> => {
  await db.deleteFrom("project_runs").where("project", "=", name).execute();
  await db.deleteFrom("project_sessions").where("project", "=", name).execute();
  const { numDeletedRows } = await db.deleteFrom("projects").where("name", "=", name).executeTakeFirst();
  return Number(numDeletedRows) > 0;
};

/** The projects that have a run without an end. */
export const projectsUnderWay = async (db: Transaction): Promise<readonly string[]> =>
  (await db.selectFrom("project_runs").select("project").where("finished_at", "is", null).execute()).map(
    ({ project }) => project,
  );

/** Everything that is stored of a project. */
export interface ProjectRecord {
  readonly project: ProjectRow;
  /** Newest first. */
  readonly runs: readonly RunRow[];
  readonly latest: Alias | null;
}

export const findRecord = async (db: Transaction, name: string): Promise<ProjectRecord | null> => {
  const project = await findProject(db, name);
  return project && { project, runs: await runsOf(db, name), latest: await findAlias(db, latestOf(name)) };
};

/** The run that goes on, or whose end is not written down yet. */
export const runUnderWay = ({ runs }: Pick<ProjectRecord, "runs">): RunRow | undefined =>
  runs.find(({ finished_at }) => finished_at === null);

const picksOf = ({ chosen }: RunRow): readonly Picked[] => [...chosen.new, ...chosen.replayed];

/** What completed runs were trained or tested on. */
export const seenBy = (runs: readonly RunRow[]): readonly Picked[] =>
  runs.filter(({ status }) => status === "completed").flatMap((run) => [...picksOf(run), ...run.chosen.held_out]);

/** The run whose adapter is the latest; none where there is no latest. */
const latestRun = ({ runs, latest }: ProjectRecord): RunRow | undefined =>
  runs.find(({ adapter_id }) => adapter_id === latest?.adapter_id);

/** What the latest adapter and those before it were trained on: a roll-back makes the rest new again. */
export const learnedBy = (record: ProjectRecord): readonly Picked[] => {
  const last = latestRun(record);
  if (!last) return [];
  return record.runs.filter((run) => run === last || (run.moved && run.run < last.run)).flatMap(picksOf);
};

/** Runs that the latest may go back to, the newest first: accepted ones before it. */
export const earlierThanLatest = (record: ProjectRecord): readonly RunRow[] => {
  const last = latestRun(record);
  return record.runs.filter(({ moved, run }) => moved && (last === undefined || run < last.run));
};

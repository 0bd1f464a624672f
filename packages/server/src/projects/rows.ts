import type { ErrorDetail, EvaluationVerdict, ProjectFigures, ProjectRunStatus, ProjectSettings } from "@imprint/contracts";
import type { Selectable } from "kysely";
import type { ProjectRunTable, ProjectSessionTable, ProjectTable, Transaction } from "../storage/schema.js";
import type { Chosen } from "./choose.js";

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

export const putMember = async (db: Transaction, member: MemberRow): Promise<void> => {
  const { project: _project, session_id: _id, ...changing } = member;
  await db
    .insertInto("project_sessions")
    .values(member)
    .onConflict((conflict) => conflict.columns(["project", "session_id"]).doUpdateSet(changing))
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
  } = {
    ...row,
    chosen: JSON.stringify(chosen),
    figures: written(figures),
    error: written(error),
    moved: moved ? 1 : 0,
  };
  await db
    .insertInto("project_runs")
    .values({ ...row, ...changing })
    .onConflict((conflict) => conflict.columns(["project", "run"]).doUpdateSet(changing))
    .execute();
};

/** Removes a run that did not begin. */
export const dropRun = async (db: Transaction, { project, run }: Pick<RunRow, "project" | "run">): Promise<void> => {
  await db.deleteFrom("project_runs").where("project", "=", project).where("run", "=", run).execute();
};

/** Removes a project with its runs and what it knows of its sessions. False where there is none. */
export const removeProject = async (db: Transaction, name: string): Promise<boolean> => {
  await db.deleteFrom("project_runs").where("project", "=", name).execute();
  await db.deleteFrom("project_sessions").where("project", "=", name).execute();
  const { numDeletedRows } = await db.deleteFrom("projects").where("name", "=", name).executeTakeFirst();
  return Number(numDeletedRows) > 0;
};

/** Runs that have no end: they go on, or the service that went on with them is gone. */
export const unfinishedRuns = async (
  db: Transaction,
): Promise<readonly Pick<ProjectRunTable, "project" | "run" | "train_job_id" | "evaluate_job_id">[]> =>
  await db
    .selectFrom("project_runs")
    .select(["project", "run", "train_job_id", "evaluate_job_id"])
    .where("finished_at", "is", null)
    .execute();

/** Marks a run that has no end. False where it has one by now. */
export const interruptRun = async (
  db: Transaction,
  { project, run, at, error }: Pick<RunRow, "project" | "run"> & { readonly at: string; readonly error: ErrorDetail },
): Promise<boolean> => {
  const { numUpdatedRows } = await db
    .updateTable("project_runs")
    .set({ status: "interrupted", finished_at: at, error: JSON.stringify(error) })
    .where("finished_at", "is", null)
    .where("project", "=", project)
    .where("run", "=", run)
    .executeTakeFirst();
  return Number(numUpdatedRows) > 0;
};

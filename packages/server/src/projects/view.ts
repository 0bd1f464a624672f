import { latestOf, MAX_SHOWN_RUNS, type Project, type ProjectRun, type ProjectSummary } from "@imprint/contracts";
import { findAlias } from "../registry/aliases.js";
import type { Transaction } from "../storage/schema.js";
import { listProjects, membersOf, type ProjectRow, type RunRow, runsOf } from "./rows.js";

/** A run as it is shown. */
export const toRun = ({ project: _project, chosen, ...row }: RunRow): ProjectRun => ({
  ...row,
  sessions: {
    new: chosen.new.length,
    replayed: chosen.replayed.length,
    held_out: chosen.held_out.map(({ session_id }) => session_id),
  },
});

const aboutProject = async (db: Transaction, { folders, ...row }: ProjectRow) => ({
  ...row,
  folders: [...folders],
  latest: await findAlias(db, latestOf(row.name)),
  sessions: (await membersOf(db, row.name)).length,
});

/** A project as it is shown. */
export const toProject = async (db: Transaction, row: ProjectRow): Promise<Project> => ({
  ...(await aboutProject(db, row)),
  runs: (await runsOf(db, row.name)).slice(0, MAX_SHOWN_RUNS).map(toRun),
});

/** Every project as lists show it, the newest first. */
export const toSummaries = async (db: Transaction): Promise<ProjectSummary[]> => {
  const summaries: ProjectSummary[] = [];
  for (const row of await listProjects(db)) {
    const [last] = await runsOf(db, row.name);
    summaries.push({ ...(await aboutProject(db, row)), last_run: last ? toRun(last) : null });
  }
  return summaries;
};

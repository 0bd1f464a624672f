import { latestOf } from "@imprint/contracts";
import { type Alias, findAlias } from "../registry/aliases.js";
import type { Database } from "../storage/schema.js";
import { inTransaction } from "../storage/transaction.js";
import type { Pick } from "./choose.js";
import { findProject, type ProjectRow, type RunRow, runsOf } from "./rows.js";

/** Everything that is stored of a project. */
export interface ProjectRecord {
  readonly project: ProjectRow;
  /** Newest first. */
  readonly runs: readonly RunRow[];
  readonly latest: Alias | null;
}

export const readProject = (database: Database, name: string): Promise<ProjectRecord | null> =>
  inTransaction(database, async (db) => {
    const project = await findProject(db, name);
    if (!project) return null;
    return { project, runs: await runsOf(db, name), latest: await findAlias(db, latestOf(name)) };
  });

const picksOf = ({ chosen }: RunRow): readonly Pick[] => [...chosen.new, ...chosen.replayed];

/** What completed runs were trained or tested on. */
export const seenBy = (runs: readonly RunRow[]): readonly Pick[] =>
  runs.filter(({ status }) => status === "completed").flatMap((run) => [...picksOf(run), ...run.chosen.held_out]);

/** The run whose adapter is the latest; none where there is no latest. */
const latestRun = ({ runs, latest }: ProjectRecord): RunRow | undefined =>
  runs.find(({ adapter_id }) => adapter_id === latest?.adapter_id);

/** What the latest adapter and those before it were trained on: a roll-back makes the rest new again. */
export const learnedBy = (record: ProjectRecord): readonly Pick[] => {
  const last = latestRun(record);
  if (!last) return [];
  return record.runs.filter((run) => run === last || (run.moved && run.run < last.run)).flatMap(picksOf);
};

/** Runs that the latest may go back to, the newest first: accepted ones before it. */
export const earlierThanLatest = (record: ProjectRecord): readonly RunRow[] => {
  const last = latestRun(record);
  return record.runs.filter(({ moved, run }) => moved && (last === undefined || run < last.run));
};

import { type ErrorDetail, type Evaluation, latestOf, type ProjectRunStatus } from "@imprint/contracts";
import { asImprintError, ImprintError, type Log } from "../common/error.js";
import type { KeyedLock } from "../common/keyed-lock.js";
import type { Job } from "../jobs/job.js";
import { isTerminal } from "../jobs/status.js";
import { findAdapter } from "../registry/adapters.js";
import { pointAlias } from "../registry/aliases.js";
import { inTransaction } from "../storage/transaction.js";
import { figuresOf } from "./figures.js";
import { readProject } from "./record.js";
import { dropRun, type ProjectRow, putRun, type RunRow } from "./rows.js";
import { type Bench, startEvaluation, startTraining } from "./steps.js";

export interface RunsOptions extends Bench {
  /** By names of projects: whoever changes a project holds its lock. */
  readonly lock: KeyedLock;
  /** Told after every change. */
  readonly onChange: (project: string) => Promise<void>;
  /** Aborts when the service begins to stop: what ends then was interrupted, and did not fail. */
  readonly closing: AbortSignal;
  readonly log: Log;
}

export interface Runs {
  /** Begins a run, or goes on with one, for who holds the project's lock. @throws ImprintError; nothing is changed then */
  begin(
    run: RunRow,
    options: { readonly project: ProjectRow; readonly from: "training" | "evaluating"; readonly earlier: RunRow | null },
  ): Promise<RunRow>;
  /** Resolves when all that has ended is written down. */
  close(): Promise<void>;
}

const endOf = ({ status, error }: Pick<Job, "status" | "error">): { status: ProjectRunStatus; error: ErrorDetail | null } => {
  if (status === "cancelled") return { status, error: null };
  return { status: error?.code === "SHUTTING_DOWN" ? "interrupted" : "failed", error };
};

/** Takes runs through their jobs: a training, the evaluation of its adapter, and what the verdict does to the latest. */
export const createRuns = ({ lock, onChange, closing, log, ...bench }: RunsOptions): Runs => {
  const { deps, jobs } = bench;
  const { database, now } = deps;
  /** The project whose run a job is of. */
  const active = new Map<string, string>();
  const pending = new Set<Promise<void>>();

  const save = async (run: RunRow): Promise<RunRow> => {
    await inTransaction(database, (db) => putRun(db, run));
    await onChange(run.project);
    return run;
  };

  const follow = (job: Job, run: RunRow): void => void active.set(job.job_id, run.project);

  const end = (run: RunRow, { status, error }: { status: ProjectRunStatus; error: ErrorDetail | null }): Promise<RunRow> => {
    const interrupted = closing.aborted && status !== "cancelled";
    return save({ ...run, status: interrupted ? "interrupted" : status, error, finished_at: now().toISOString() });
  };

  const train = async (run: RunRow, project: ProjectRow): Promise<RunRow> => {
    const job = await startTraining(run, project, bench);
    follow(job, run);
    return save({ ...run, train_job_id: job.job_id, seed: Number(job.request.seed) });
  };

  const evaluate = async (run: RunRow, project: ProjectRow, latest: string | null): Promise<RunRow> => {
    const job = await startEvaluation(run, { project, latest }, bench);
    follow(job, run);
    return save({ ...run, status: "evaluating", evaluate_job_id: job.job_id });
  };

  /** The verdict: the latest moves with the run's end, or not at all. */
  const accept = async (run: RunRow, evaluation: Evaluation): Promise<void> => {
    const at = now().toISOString();
    const { verdict, sentence } = evaluation;
    await inTransaction(database, async (db) => {
      const moved = verdict !== "harms" && (await findAdapter(db, run.adapter_id)) !== null;
      if (moved) await pointAlias(db, { alias: latestOf(run.project), adapterId: run.adapter_id, at });
      const figures = figuresOf(evaluation);
      await putRun(db, { ...run, status: "completed", verdict, sentence, figures, moved, finished_at: at });
    });
    await onChange(run.project);
  };

  const advance = async (job: Job, name: string): Promise<void> => {
    const record = await readProject(database, name);
    const run = record?.runs.find(({ finished_at }) => finished_at === null);
    if (!record || !run) return;
    if (job.status !== "completed") return void (await end(run, endOf(job)));
    if (job.kind === "evaluate") return accept(run, job.result as Evaluation);
    try {
      await evaluate(run, record.project, record.latest?.adapter_id ?? null);
    } catch (error) {
      const detail = asImprintError(error).toDetail();
      await end(run, endOf({ status: "failed", error: detail }));
    }
  };

  jobs.subscribe((job) => {
    const name = active.get(job.job_id);
    if (name === undefined || !isTerminal(job.status)) return;
    active.delete(job.job_id);
    const work = lock([name], () => advance(job, name))
      .catch((err: unknown) => log.error({ err, project: name }, "a run of a project could not be written down"))
      .finally(() => pending.delete(work));
    pending.add(work);
  });

  return {
    begin: async (run, { project, from, earlier }) => {
      const begun: RunRow = { ...run, status: from, error: null, finished_at: null };
      await inTransaction(database, (db) => putRun(db, begun));
      await onChange(project.name);
      try {
        const latest = (await readProject(database, project.name))?.latest?.adapter_id ?? null;
        return await (from === "training" ? train(begun, project) : evaluate(begun, project, latest));
      } catch (error) {
        await inTransaction(database, (db) => (earlier ? putRun(db, earlier) : dropRun(db, run)));
        await onChange(project.name);
        throw error instanceof ImprintError ? error : asImprintError(error);
      }
    },
    close: async () => {
      while (pending.size > 0) await Promise.all(pending);
    },
  };
};

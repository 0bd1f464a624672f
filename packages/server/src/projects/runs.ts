import {
  type ErrorDetail,
  type Evaluation,
  type EvaluationVerdict,
  latestOf,
  type Project,
  type ProjectFigures,
} from "@imprint/contracts";
import type { Clock } from "../common/clock.js";
import { asImprintError, type Log } from "../common/error.js";
import type { KeyedLock } from "../common/keyed-lock.js";
import { isTerminal } from "../jobs/status.js";
import type { Start } from "../kinds/index.js";
import { launch } from "../launch/start.js";
import { findAdapter } from "../registry/adapters.js";
import { pointAlias } from "../registry/aliases.js";
import type { Transaction } from "../storage/schema.js";
import { inTransaction } from "../storage/transaction.js";
import { findProject, findRecord, type ProjectRecord, projectsUnderWay, putRun, type RunRow, runUnderWay } from "./rows.js";
import { evaluationOf, type RunDeps, trainingOf } from "./run-jobs.js";
import { toProject } from "./view.js";

export interface RunsOptions extends RunDeps {
  /** By names of projects: whoever changes a project holds its lock. */
  readonly lock: KeyedLock;
  /** Told after every change. */
  readonly onChange: (project: Project) => void;
  /** Aborts when the service begins to stop: what ends then was interrupted, and did not fail. */
  readonly closing: AbortSignal;
  readonly clock: Pick<Clock, "after">;
  readonly log: Log;
}

export interface Runs {
  /** Changes what is stored of a project, in one transaction, and tells of it. Null where there is no such project then. */
  change(project: string, work: (db: Transaction) => Promise<unknown>): Promise<Project | null>;
  /**
   * Begins a run, or goes on with one, for who holds the project's lock: its job is queued, and the run stored with `others`, or neither.
   * @throws ImprintError; nothing is changed then
   */
  begin(run: RunRow, options: BeginOptions): Promise<RunRow>;
  /** Takes a project's run as far as its jobs have come, for who holds the project's lock. */
  advance(project: string): Promise<void>;
  /** The same for every project, as an earlier service left them. */
  recover(): Promise<void>;
  /** Resolves when all that has ended is written down. */
  close(): Promise<void>;
}

interface BeginOptions {
  readonly record: ProjectRecord;
  readonly status: "training" | "evaluating";
  readonly others: (db: Transaction) => Promise<unknown>;
}

/** Until what could not be written down is tried again. */
const RETRY_MS = 5_000;

const INTERRUPTED: ErrorDetail = {
  code: "SHUTTING_DOWN",
  message: "The service ended while the run went on.",
  hint: "Start a run: it goes on where this one was.",
};

/** The job that a run waits for. */
export const jobOf = ({ status, train_job_id, evaluate_job_id }: RunRow): string =>
  (status === "evaluating" ? evaluate_job_id : train_job_id) ?? "";

const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;

/** What a project keeps of an evaluation; null where it lacks the rows. */
const figuresOf = ({ rows, neutral }: Evaluation): ProjectFigures | null => {
  const [base, adapter, control] = (["base", "adapter", "control"] as const).map((name) => rows.find(({ row }) => row === name));
  if (!base || !adapter || adapter.change === null) return null;
  const [before, after] = [mean(neutral.map((one) => one.loss_before)), mean(neutral.map((one) => one.loss_after))];
  return {
    tokens: adapter.tokens,
    base_loss: base.loss,
    loss: adapter.loss,
    change: adapter.change,
    interval: adapter.interval,
    neutral_change: neutral.length === 0 || before === 0 ? 0 : after / before - 1,
    before:
      control?.adapter_id && control.change !== null
        ? { adapter_id: control.adapter_id, change: control.change, interval: control.interval }
        : null,
  };
};

/** Also where there is too little to tell, and what little there is rose. */
const speaksAgainst = (verdict: EvaluationVerdict, figures: ProjectFigures | null): boolean =>
  verdict === "harms" || (verdict === "too_little_to_tell" && (figures?.change ?? 0) > 0);

/**
 * Takes runs through their jobs: a training, the evaluation of its adapter, and what its verdict does to the latest. Where a run is
 * stands in the database alone, and what became of its job is asked of the jobs: `advance` may be called at any time, and again.
 */
export const createRuns = ({ lock, onChange, closing, clock, log, ...services }: RunsOptions): Runs => {
  const { deps, jobs } = services;
  const { database, now } = deps;
  const advancing = new Set<Promise<unknown>>();
  let callOffRetry = (): void => {};

  const change: Runs["change"] = async (name, work) => {
    const project = await inTransaction(database, async (db) => {
      await work(db);
      const row = await findProject(db, name);
      return row && toProject(db, row);
    });
    if (project) onChange(project);
    return project;
  };

  const end = (run: RunRow, ended: Pick<RunRow, "status" | "error">): Promise<unknown> => {
    const isInterrupted = ended.status === "failed" && (closing.aborted || ended.error?.code === "SHUTTING_DOWN");
    const status = isInterrupted ? "interrupted" : ended.status;
    return change(run.project, (db) => putRun(db, { ...run, ...ended, status, finished_at: now().toISOString() }));
  };

  /** The job first, since a job can be called off and a commit cannot. */
  const launchWith = async (start: Start, run: RunRow, others: (db: Transaction) => Promise<unknown>): Promise<RunRow> => {
    const field = run.status === "evaluating" ? "evaluate_job_id" : "train_job_id";
    let launched = run;
    try {
      await change(run.project, async (db) => {
        await others(db);
        const job_id = await launch({ start, call: null, transact: (work) => work(db) }, services);
        launched = { ...run, [field]: job_id };
        await putRun(db, launched);
      });
    } catch (error) {
      const job = launched === run ? undefined : jobs.get(jobOf(launched));
      if (job && !isTerminal(job.status)) jobs.cancel(job.job_id);
      throw error;
    }
    return launched;
  };

  const begin: Runs["begin"] = async (earlier, { record, status, others }) => {
    const run: RunRow = { ...earlier, status, error: null, finished_at: null };
    if (status === "evaluating") return launchWith(await evaluationIn(record, run), run, others);
    const start = await trainingOf(run, record.project, services);
    return launchWith(start, { ...run, seed: start.request.seed }, others);
  };

  const evaluationIn = ({ project, latest }: ProjectRecord, run: RunRow): Promise<Start> =>
    evaluationOf(run, { project, latest: latest?.adapter_id ?? null }, services);

  const evaluate = async (record: ProjectRecord, trained: RunRow): Promise<unknown> => {
    try {
      return await begin(trained, { record, status: "evaluating", others: async () => {} });
    } catch (error) {
      return end(trained, { status: "failed", error: asImprintError(error).toDetail() });
    }
  };

  /** The latest moves with the run's end, or not at all. */
  const complete = (run: RunRow, evaluation: Evaluation): Promise<unknown> => {
    const at = now().toISOString();
    const { verdict, sentence } = evaluation;
    const figures = figuresOf(evaluation);
    return change(run.project, async (db) => {
      const moved = !speaksAgainst(verdict, figures) && (await findAdapter(db, run.adapter_id)) !== null;
      if (moved) await pointAlias(db, { alias: latestOf(run.project), adapterId: run.adapter_id, at });
      await putRun(db, { ...run, status: "completed", verdict, sentence, figures, moved, finished_at: at });
    });
  };

  const advance = async (name: string): Promise<unknown> => {
    const record = await inTransaction(database, (db) => findRecord(db, name));
    const run = record && runUnderWay(record);
    if (!record || !run) return;
    const job = jobs.get(jobOf(run));
    if (!job) {
      log.warn({ project: name, run: run.run }, "a run was interrupted by a restart; the next one goes on with it");
      return end(run, { status: "interrupted", error: INTERRUPTED });
    }
    if (!isTerminal(job.status)) return;
    if (job.status === "cancelled") return end(run, { status: "cancelled", error: null });
    if (job.status === "failed") return end(run, { status: "failed", error: job.error });
    return run.status === "evaluating" ? complete(run, job.result as Evaluation) : evaluate(record, run);
  };

  const advanceAll = async (): Promise<void> => {
    const names = await inTransaction(database, projectsUnderWay);
    const all = await Promise.allSettled(names.map((name) => lock([name], () => advance(name))));
    for (const one of all) if (one.status === "rejected") throw one.reason;
  };

  const advanceLater = (): void => {
    const work = advanceAll()
      .catch((err: unknown) => {
        log.error({ err }, "runs of projects could not be written down; it is tried again");
        callOffRetry();
        if (!closing.aborted) callOffRetry = clock.after(RETRY_MS, advanceLater);
      })
      .finally(() => advancing.delete(work));
    advancing.add(work);
  };

  const leave = jobs.subscribe(({ status }) => {
    if (isTerminal(status)) advanceLater();
  });

  return {
    change,
    begin,
    advance: async (name) => void (await advance(name)),
    recover: advanceAll,
    close: async () => {
      leave();
      callOffRetry();
      while (advancing.size > 0) await Promise.all(advancing);
    },
  };
};

import { spawn as spawnChild } from "node:child_process";
import type { WorkerTask } from "@imprint/contracts";
import { asImprintError, ImprintError } from "../../common/error.js";
import { abortable } from "../../common/promises.js";
import { type Places, resolveTask } from "../reference.js";
import {
  type Call,
  type CallResult,
  type ChatEvent,
  failedAtOnce,
  type Interactive,
  type Outcome,
  type Runner,
  type TaskEvent,
} from "../runner.js";
import { workerEnvironment } from "./environment.js";
import type { WorkerSettings } from "./link.js";
import { createPool } from "./pool.js";
import { createKillOnExit, type Spawn, startProcess } from "./process.js";
import { startWorker, type Worker } from "./worker.js";

export interface WorkerCommand {
  readonly file: string;
  readonly args: readonly string[];
  /** Passed to the worker as they are, on top of the allow-list. */
  readonly env?: Readonly<Record<string, string>>;
  /** Program and arguments on the nodes of a cluster. Default: as here. */
  readonly onCluster?: readonly string[];
}

export interface LocalRunnerOptions extends WorkerSettings {
  readonly command: WorkerCommand;
  /** The service's environment; the worker gets the allow-listed part (environment.ts). */
  readonly env: NodeJS.ProcessEnv;
  /** Whether workers may fetch models from the hub. Default: false. */
  readonly allowDownloads?: boolean;
  /** Where workers tell the numbers of trainings too. Default: nowhere. */
  readonly tracker?: string | null;
  /** Where this machine keeps what tasks refer to. Default: tasks name paths. */
  readonly places?: Places;
  /** What a worker is kept warm for; requests with the same answer share a process. Default: the spec's base_model. */
  readonly baseModelOf?: (request: WorkerTask | Call) => string;
  /** Processes that train at once, default 1: set it to the number of slots. One more answers chats, and one exports, while all of them train. */
  readonly maxWorkers?: number;
  /** How long those stay warm when nobody needs them. Default 5 minutes. */
  readonly talkerRestMs?: number;
  /** Called with every process that is started. */
  readonly onWorkerStart?: () => void;
  /** node:child_process spawn, unless a test counts or fails it. */
  readonly spawn?: Spawn;
}

const TALKER_REST_MS = 300_000;

/** Trains in child processes of this machine: `command` speaking docs/operations.md. Starts none until there is work. */
export function createLocalRunner(options: LocalRunnerOptions): Runner & Interactive {
  const {
    command,
    env,
    allowDownloads = false,
    tracker = null,
    cancelGraceMs,
    maxWorkers = 1,
    baseModelOf = ({ spec }) => spec.base_model,
    onWorkerStart = () => {},
    places,
    spawn = spawnChild as Spawn,
    clock,
  } = options;
  const { file, args } = command;
  const program = { file, args, env: workerEnvironment({ source: env, allowDownloads, tracker, extra: command.env }) };
  const killOnExit = createKillOnExit();
  const start = (): Worker => {
    onWorkerStart();
    return startWorker(startProcess({ ...program, spawn, killOnExit, clock }), options);
  };
  const pool = createPool({ maxWorkers, graceMs: cancelGraceMs, start });
  // A chat never waits for a training, nor does an export: with all others at work it gets a process, and a copy of its base, of its own.
  const rest = { afterMs: options.talkerRestMs ?? TALKER_REST_MS, clock };
  const one = { maxWorkers: 1, graceMs: cancelGraceMs, start, rest };
  const [talkers, exporters] = [createPool(one), createPool(one)];

  const run = async (task: WorkerTask, onEvent: (event: TaskEvent) => void, signal: AbortSignal): Promise<Outcome> => {
    try {
      const here = places ? resolveTask(task, places) : task;
      const owner = task.type === "export" && !pool.isFree() ? exporters : pool;
      const checkout = await owner.acquire(baseModelOf(here), signal);
      const outcome = await checkout.worker.run(here, onEvent, signal);
      checkout.release(outcome.type === "failed" && outcome.error.code === "OUT_OF_MEMORY"); // what leaked would fail the next one
      return outcome;
    } catch (thrown) {
      return signal.aborted ? { type: "cancelled" } : { type: "failed", error: asImprintError(thrown).toDetail() };
    }
  };

  const call = async (request: Call, signal?: AbortSignal, onEvent?: (event: ChatEvent) => void): Promise<CallResult> => {
    const base = baseModelOf(request);
    const shared = request.type !== "chat" ? pool.share(base) : undefined;
    const owner = request.type !== "chat" || pool.isFree() ? pool : talkers;
    const checkout = shared ?? (await owner.acquire(base, signal));
    const answer = checkout.worker.call(request, signal, onEvent).finally(() => checkout.release());
    return abortable(answer, signal);
  };

  const underWay = new Set<string>();

  return {
    start(task, onEvent) {
      const { job_id } = task;
      if (underWay.has(job_id)) return failedAtOnce(new ImprintError("TRAINER_ERROR", `The job ${job_id} is under way already.`));
      underWay.add(job_id);
      const stop = new AbortController();
      const outcome = run(task, onEvent, stop.signal).finally(() => underWay.delete(job_id));
      return { cancel: () => stop.abort(), outcome };
    },
    adopt: async () => null, // its workers end with the service
    leftBehind: async () => [],
    release: async () => {},
    call: call as Interactive["call"],
    close: async (graceMs) => void (await Promise.all([pool, talkers, exporters].map((one) => one.close(graceMs)))),
  };
}

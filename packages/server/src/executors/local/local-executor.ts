import type { Clock } from "../../jobs/clock.js";
import { JobError } from "../../jobs/job-error.js";
import type { Log } from "../../jobs/log.js";
import type { ChatCall, Executor, PreviewCall, WorkerTask } from "../executor.js";
import type { Spawn } from "./spawn.js";

export interface WorkerCommand {
  readonly file: string;
  readonly args: readonly string[];
  /** Passed to the worker as they are, on top of the allow-list. */
  readonly env?: Readonly<Record<string, string>>;
}

export interface LocalExecutorOptions {
  readonly command: WorkerCommand;
  /** The service's environment; the worker gets the allow-listed part (environment.ts). */
  readonly env: NodeJS.ProcessEnv;
  /** What a worker is kept warm for; requests with the same answer share a process. */
  readonly baseModelOf?: (request: WorkerTask | PreviewCall | ChatCall) => string;
  /** Processes at once, default 1: set it to the number of slots. */
  readonly maxWorkers?: number;
  readonly heartbeatTimeoutMs: number;
  readonly startTimeoutMs: number;
  readonly cancelGraceMs: number;
  readonly maxLineBytes?: number;
  readonly log: Log;
  readonly clock: Clock;
  /** node:child_process spawn, unless a test counts or fails it. */
  readonly spawn?: Spawn;
}

export function createLocalExecutor(_options: LocalExecutorOptions): Executor {
  throw new JobError("INTERNAL_ERROR", "not built yet");
}

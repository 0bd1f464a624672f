import type { WorkerEvent } from "@imprint/contracts";
import type { Clock } from "../../common/clock.js";
import type { Log } from "../../common/error.js";
import type { KillOnExit } from "./kill-on-exit.js";
import type { Spawn, WorkerProcess } from "./spawn.js";

/** How to start a worker, and how long to bear with it. */
export interface WorkerSettings {
  readonly file: string;
  readonly args: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  /** From the spawn to `ready`. */
  readonly startTimeoutMs: number;
  /** Longest silence while a task or call is under way. */
  readonly heartbeatTimeoutMs: number;
  /** From the cancel message to TERM, and again from TERM to KILL. */
  readonly cancelGraceMs: number;
  /** A worker that dies this soon after a result takes the result with it. */
  readonly settleMs: number;
  readonly maxLineBytes: number;
  /** From decode-event.ts. */
  readonly decode: (line: Buffer) => WorkerEvent | null;
  readonly spawn: Spawn;
  /** The worker itself, where it is no child of this process. Default: `file` is started with `spawn`. */
  readonly process?: () => WorkerProcess;
  readonly killOnExit: KillOnExit;
  readonly clock: Clock;
  readonly log: Log;
}

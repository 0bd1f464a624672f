import type { WorkerTask } from "@imprint/contracts";
import type { Clock } from "../../common/clock.js";
import type { Log } from "../../common/error.js";
import type { Places } from "../reference.js";
import type { JobsApi } from "./jobs-api.js";
import type { Limits } from "./status.js";
import type { SharedStorage } from "./storage.js";

/** What one job asks of the cluster. */
interface Resources {
  readonly cpus: number;
  readonly gpus: number;
  /** Bytes; null where nobody knows. */
  readonly memory: number | null;
}

export interface RayRunnerOptions {
  readonly api: JobsApi;
  readonly storage: SharedStorage;
  /** Null: tasks name paths that the cluster sees too. */
  readonly places: Places | null;
  /** The interpreter on the cluster that supervises attempts. */
  readonly python: string;
  /** Puts the trainer's sources where the cluster sees them; `name` is theirs on the storage, null where they lie elsewhere. */
  readonly sources: () => Promise<{ readonly onNodes: string; readonly name: string | null }>;
  /** The worker's program and arguments on the cluster. */
  readonly command: readonly string[];
  /** On top of what the supervisor lets through. */
  readonly env: Readonly<Record<string, string>>;
  readonly resources: (task: WorkerTask, signal: AbortSignal) => Promise<Resources>;
  /** Whether jobs run on when the service stops, for the next one to adopt. */
  readonly leave: boolean;
  /** How often a job is tried where the cluster loses it. */
  readonly attempts: number;
  readonly limits: Limits;
  readonly cancelGraceMs: number;
  /** From the supervisor's start to a worker that is ready: the time in the cluster's queue does not count. */
  readonly startTimeoutMs: number;
  readonly pollMs: number;
  /** How often the engine is asked. */
  readonly askMs: number;
  /** How long what finished while no service ran is kept for one that adopts. */
  readonly keepMs: number;
  readonly clock: Clock;
  readonly log: Log;
}

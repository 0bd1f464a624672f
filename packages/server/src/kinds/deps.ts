import type { BaseModels } from "../models/base-model.js";
import type { RunCommand } from "../runners/local/command.js";
import type { SessionStore } from "../sessions/store.js";
import type { DataPaths } from "../storage/paths.js";
import type { Database } from "../storage/schema.js";

/** What kinds of jobs and routes work with. */
export interface KindDeps {
  readonly database: Database;
  readonly paths: DataPaths;
  readonly sessions: SessionStore;
  readonly models: BaseModels;
  readonly run: RunCommand;
  /** Between two checkpoints of a training. */
  readonly checkpointSeconds: number;
  readonly now: () => Date;
}

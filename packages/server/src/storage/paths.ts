import { chmodSync, existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";

/** Where things lie in the data directory. Every name below is an id that its schema has matched. */
export interface DataPaths {
  readonly root: string;
  readonly database: string;
  readonly sessions: string;
  /** Where sessions are until they are imported as a whole. */
  readonly incoming: string;
  readonly adapters: string;
  readonly exports: string;
  readonly staging: string;
  readonly orphans: string;
  readonly checkpoints: string;
  readonly uploads: string;
  readonly models: string;
  readonly hypernetworks: string;
  readonly serverFile: string;
}

export const dataPaths = (root: string): DataPaths => ({
  root,
  database: join(root, "registry.db"),
  sessions: join(root, "sessions"),
  incoming: join(root, "incoming"),
  adapters: join(root, "adapters"),
  exports: join(root, "exports"),
  staging: join(root, "adapters", ".staging"),
  orphans: join(root, "adapters", ".orphans"),
  checkpoints: join(root, "checkpoints"),
  uploads: join(root, "uploads"),
  models: join(root, "models"),
  hypernetworks: join(root, "hypernetworks"),
  serverFile: join(root, "server.json"),
});

/** Creates what is missing, and closes the data directory to other users. */
export const ensureDataPaths = (paths: DataPaths): void => {
  const { root, sessions, incoming, adapters, exports, staging, checkpoints, uploads, models, hypernetworks } = paths;
  for (const folder of [root, sessions, incoming, adapters, exports, staging, checkpoints, uploads, models, hypernetworks])
    if (!existsSync(folder)) mkdirSync(folder, { recursive: true, mode: 0o700 });
  chmodSync(paths.root, 0o700);
};

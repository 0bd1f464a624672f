import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { RayStorage } from "../../../config/ray.js";
import { createFolderStore } from "./folder-store.js";
import { createS3Store } from "./s3-store.js";
import type { Store } from "./store.js";

interface OpenOptions {
  /** The trainer's sources on this machine. */
  readonly sources: string;
  readonly env: NodeJS.ProcessEnv;
}

/** The store of the settings. Nothing is asked of it yet. */
export const openStore = (storage: RayStorage, { sources, env }: OpenOptions): Store => {
  if (storage.type === "folder") return createFolderStore(storage.onNodes);
  const { url, onNodes } = storage;
  const fetchProgram = readFileSync(join(sources, "imprint_node", "fetch.py"), "utf8");
  return createS3Store({ url, onNodes, fetchProgram, env });
};

import { chmod, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { loadConfig, type RunningServer, startServer } from "@imprint/server";
import { onTestFinished } from "vitest";

const TRAINER = fileURLToPath(new URL("../../../server/test/fixtures/workers/trainer.mjs", import.meta.url));
export const EXAMPLES = fileURLToPath(new URL("../../../../examples/sessions/", import.meta.url));

export interface Place {
  readonly root: string;
  readonly dataDir: string;
  /** What a command needs to work on this data directory, with the fixture worker as its trainer. */
  readonly env: Readonly<Record<string, string>>;
}

/** How the fixture worker behaves, given the place's folder; see its head. */
export type Behaviour = (root: string) => Readonly<Record<string, unknown>>;

const good: Behaviour = () => ({});

/** A data directory of its own, a base model's folder, and an interpreter that is really the fixture worker. */
export async function place(behaviour: Behaviour = good): Promise<Place> {
  const root = await mkdtemp(path.join(tmpdir(), "imprint-cli-"));
  onTestFinished(() => rm(root, { recursive: true, force: true }));
  const model = path.join(root, "tiny-model");
  await mkdir(model);
  for (const file of ["config.json", "model.safetensors"]) await writeFile(path.join(model, file), "{}");
  const python = path.join(root, "python");
  await writeFile(python, `#!/bin/sh\nexec "${process.execPath}" "${TRAINER}" '${JSON.stringify(behaviour(root))}'\n`);
  await chmod(python, 0o755);
  const dataDir = path.join(root, "data");
  return {
    root,
    dataDir,
    env: { IMPRINT_DATA_DIR: dataDir, IMPRINT_PYTHON: python, IMPRINT_BASE_MODEL: model, IMPRINT_ENGINE: "transformers" },
  };
}

/** A real service on a place, in this process; any free port unless one is given. */
export async function serve(at: Place, port = "0"): Promise<RunningServer> {
  const config = loadConfig({ env: { ...at.env, IMPRINT_PORT: port, IMPRINT_LOG_LEVEL: "silent" } });
  const server = await startServer(config, { announce: true });
  onTestFinished(() => server.close(0));
  return server;
}

/** A place with a real service running on it, in this process. */
export async function servedPlace(behaviour: Behaviour = good): Promise<Place & { readonly server: RunningServer }> {
  const at = await place(behaviour);
  return { ...at, server: await serve(at) };
}

import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { WorkerTask } from "@imprint/contracts";
import { expect, onTestFinished, test } from "vitest";
import type { Job } from "../../src/jobs/job.js";
import type { KindDeps } from "../../src/kinds/deps.js";
import { createKinds } from "../../src/kinds/index.js";
import { resolveHypernetwork, resolveLora } from "../../src/kinds/resolve.js";
import { baseModelsOf } from "../../src/models/base-model.js";
import { localPlaces, resolveTask } from "../../src/runners/reference.js";
import { createSessionStore } from "../../src/sessions/store.js";
import { openDatabase } from "../../src/storage/open.js";
import { dataPaths, ensureDataPaths } from "../../src/storage/paths.js";
import { quietLog } from "../common/quiet-log.js";
import { configFor, MODEL, makeFolder } from "../support/service.js";
import { putSession } from "../support/session.js";
import { evaluateTask, loraTask } from "./support.js";

const stage = () => {
  const root = makeFolder();
  const paths = dataPaths(root);
  ensureDataPaths(paths);
  mkdirSync(join(paths.models, MODEL));
  putSession(root, "s");
  const models = baseModelsOf(configFor(root, { allow_downloads: true }));
  const places = localPlaces({ paths, models, hypernetworks: [paths.hypernetworks, "/shipped"] });
  const database = openDatabase({ path: paths.database });
  const now = () => new Date(0);
  const sessions = createSessionStore({ database, paths, limit: 1e6, log: quietLog(), now });
  onTestFinished(async () => {
    await sessions.close();
    await database.destroy();
  });
  const deps: KindDeps = { database, paths, sessions, models, run: async () => ({}), checkpointSeconds: 1, now };
  return { root, paths, places, kinds: createKinds(deps) };
};

const defaults = { baseModel: MODEL, random: { seed: () => 7, suffix: () => "x" } };
const signal = new AbortController().signal;
const job_id = "01".padEnd(26, "0");

test("a task names no path of this machine, and what it names is here", async () => {
  const { root, paths, places, kinds } = stage();
  const fresh = resolveLora({ session_id: "s", adapter_id: "a" }, defaults);
  const task = await kinds.lora.prepare({ job_id, request: fresh } as unknown as Job<typeof fresh>, signal);
  expect(JSON.stringify(task)).not.toContain(root);
  expect((resolveTask(task, places) as typeof task).spec).toMatchObject({
    session_paths: [join(paths.staging, job_id, "session-1.json")],
    base_model: join(paths.models, MODEL),
    output_dir: join(paths.staging, job_id, "adapter"),
    checkpoint: { dir: join(paths.checkpoints, job_id) },
    adapter_id: "a",
  });

  const other = "02".padEnd(26, "0");
  const single = resolveHypernetwork({ trajectory_ids: ["s"] }, defaults);
  const pass = await kinds.hypernetwork.prepare({ job_id: other, request: single } as unknown as Job<typeof single>, signal);
  expect(JSON.stringify(pass)).not.toContain(root);
  expect((resolveTask(pass, places) as typeof pass).spec).toMatchObject({
    session_path: join(paths.staging, other, "session-1.json"),
    hypernetworks_dirs: [join(paths.hypernetworks), "/shipped"],
  });
});

test("of an evaluation the sessions, the control and the kept measurements are resolved, and no id is", () => {
  const { paths, places } = stage();
  const task = evaluateTask({
    adapter_path: "imprint:adapters/a",
    sessions: [{ session_id: "s", path: "imprint:staging/j/tested/session-1.json" }],
    trained_on: [{ session_id: "t", path: "imprint:staging/j/trained/session-1.json" }],
    control: { adapter_id: "b", path: "imprint:adapters/b" },
    cache_dir: "imprint:measurements/",
  });
  const { spec } = resolveTask(task, places) as typeof task;
  expect(spec).toMatchObject({
    adapter_id: "a",
    adapter_path: join(paths.adapters, "a"),
    sessions: [{ session_id: "s", path: join(paths.staging, "j", "tested", "session-1.json") }],
    trained_on: [{ session_id: "t", path: join(paths.staging, "j", "trained", "session-1.json") }],
    control: { adapter_id: "b", path: join(paths.adapters, "b") },
    cache_dir: paths.measurements,
  });
});

test("only what names files is resolved, and a hub id is good as it is", () => {
  const { places } = stage();
  const text = "imprint:adapters/../../secret";
  const task: WorkerTask = loraTask({
    task_type: text,
    base_model: "imprint:models/some/body",
    output_dir: "imprint:staging/j/adapter",
  });
  const { spec } = resolveTask(task, places) as typeof task;
  expect(spec).toMatchObject({ task_type: text, base_model: "some/body" });
  expect(spec.output_dir).toMatch(/\.staging.j.adapter$/);
});

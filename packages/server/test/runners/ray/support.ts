import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";
import { systemClock } from "../../../src/common/clock.js";
import { findRepoRoot, readSetup } from "../../../src/config/setup.js";
import { createJobsApi } from "../../../src/runners/ray/jobs-api.js";
import type { RayRunnerOptions } from "../../../src/runners/ray/options.js";
import { createRayRunner } from "../../../src/runners/ray/ray-runner.js";
import { sharedStorage } from "../../../src/runners/ray/storage.js";
import { createFolderStore } from "../../../src/runners/ray/stores/folder-store.js";
import type { Store } from "../../../src/runners/ray/stores/store.js";
import type { Runner } from "../../../src/runners/runner.js";
import { quietLog } from "../../common/quiet-log.js";
import { type FakeHead, startFakeHead } from "../../fixtures/ray/fake-head.js";
import { temporaryFolder, workerPath } from "../support.js";

export const SOURCES = fileURLToPath(new URL("../../../../../trainer/src", import.meta.url));

/** A head that is gone after the test. */
export const headOf = async (options: Parameters<typeof startFakeHead>[0] = {}): Promise<FakeHead> => {
  const head = await startFakeHead(options);
  onTestFinished(() => head.close());
  return head;
};

/** The one that the set-up prepared: the supervisor takes any, and a shim would take a second to start. */
export const PYTHON = readSetup(findRepoRoot())?.python ?? "python3";

interface RayOptions extends Partial<RayRunnerOptions> {
  readonly worker?: string;
  readonly args?: readonly string[];
  readonly address: string;
  readonly token?: string;
  readonly root?: string;
  readonly store?: Store;
}

/** A runner on a cluster whose trainer is a fixture worker, closed after the test. */
export const rayRunnerOn = ({
  worker = "trainer.mjs",
  args = [],
  address,
  token,
  root,
  store,
  ...options
}: RayOptions): Runner => {
  const shared = root ?? join(temporaryFolder(), "shared");
  if (root === undefined) mkdirSync(shared);
  const runner = createRayRunner({
    api: createJobsApi({ address, token: token ?? null, timeoutMs: 2000 }),
    storage: sharedStorage(store ?? createFolderStore(shared), "test"),
    places: null,
    python: PYTHON,
    sources: async () => ({ onNodes: SOURCES, name: null }),
    command: [process.execPath, workerPath(worker), ...args],
    env: {},
    resources: async () => ({ cpus: 0.1, gpus: 0, memory: null }),
    leave: false,
    attempts: 2,
    limits: { lostAfterMs: 1500, patienceMs: 15_000, killMs: 10_000 },
    cancelGraceMs: 200,
    startTimeoutMs: 15_000,
    pollMs: 25,
    askMs: 100,
    keepMs: 3_600_000,
    clock: systemClock(),
    log: quietLog(),
    ...options,
  });
  onTestFinished(() => runner.close(0));
  return runner;
};

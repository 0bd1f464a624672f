import { readdirSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { recoverJobs } from "../../../src/jobs/start-jobs.js";
import { createFolderStore } from "../../../src/runners/ray/stores/folder-store.js";
import type { Store } from "../../../src/runners/ray/stores/store.js";
import { quietLog } from "../../common/quiet-log.js";
import type { FakeHead } from "../../fixtures/ray/fake-head.js";
import { loraTask, startWatched, temporaryFolder } from "../support.js";
import { headOf, rayRunnerOn } from "./support.js";

interface Left {
  readonly head: FakeHead;
  readonly root: string;
  readonly job_id: string;
  /** Lets the trainer go on. */
  readonly go: () => void;
}

/** A job in mid-training that its service has left on the cluster. */
const leaveJob = async (): Promise<Left> => {
  const head = await headOf();
  const [root, wait_for] = [join(temporaryFolder(), "shared"), join(temporaryFolder(), "go")];
  const runner = rayRunnerOn({ address: head.address, root, leave: true, args: [JSON.stringify({ wait_for })] });
  const task = loraTask({ output_dir: temporaryFolder() });
  const watched = startWatched(runner, task);
  await watched.seen(({ type }) => type === "progress");
  await runner.close(0);
  return { head, root, job_id: task.job_id, go: () => writeFileSync(wait_for, "") };
};

const refuse = (): Promise<never> => Promise.reject(Object.assign(new Error("503 SlowDown"), { code: "ECONNRESET" }));

test.each<[what: string, faults: (store: Store) => Partial<Store>, unmounted: boolean]>([
  ["cannot list", () => ({ list: refuse }), false],
  [
    "cannot read what is kept of a job",
    ({ read }) => ({ read: (name) => (name.endsWith("job.json") ? refuse() : read(name)) }),
    false,
  ],
  ["is not mounted", () => ({}), true],
])(
  "a service that starts while the shared storage %s stops nothing, and follows what is left once it can",
  async (_what, faults, unmounted) => {
    const { head, root, job_id, go } = await leaveJob();
    const store = createFolderStore(root);
    if (unmounted) renameSync(root, `${root}.away`);
    const blind = rayRunnerOn({ address: head.address, store: { ...store, ...faults(store) }, leave: true });
    await expect(blind.leftBehind()).rejects.toThrow();
    const log = quietLog();
    await recoverJobs({ runner: blind, jobs: { adopt: () => expect.unreachable() }, adopt: false, log });
    expect(log.lines).toEqual([expect.stringMatching(/^error: it is not known which jobs of an earlier run go on/)]);
    await expect(blind.release([])).rejects.toThrow();
    await expect(blind.release([job_id])).rejects.toThrow();
    expect(head.stops).toEqual([]);

    if (unmounted) renameSync(`${root}.away`, root);
    const runner = rayRunnerOn({ address: head.address, store });
    expect((await runner.leftBehind()).map((job) => job.job_id)).toEqual([job_id]);
    const handle = await runner.adopt(job_id, () => {});
    go();
    expect(await handle?.outcome).toMatchObject({ type: "done" });
    expect(head.stops).toEqual([]);
  },
);

test("a job that is followed again gets its task once, though its requests cannot be listed at first", async () => {
  const { head, root, job_id, go } = await leaveJob();
  const store = createFolderStore(root);
  let refused = 0;
  const written: string[] = [];
  const list: Store["list"] = (name) => {
    if (!name.endsWith("/requests") || refused > 2) return store.list(name);
    refused += 1;
    return refuse();
  };
  const put: Store["put"] = (name, content) => {
    written.push(name);
    return store.put(name, content);
  };
  const runner = rayRunnerOn({ address: head.address, store: { ...store, list, put } });
  const handle = await runner.adopt(job_id, () => {});
  go();
  expect(await handle?.outcome).toMatchObject({ type: "done" });
  expect(written.filter((name) => name.includes("/requests/0000"))).toEqual([]);
  expect(readdirSync(join(root, "jobs", "test"))).toEqual([]);
});

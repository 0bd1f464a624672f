/**
 * What callbacks gain: from the moment at which the trainer goes on to its end, until the runner knows the end and has the files.
 * `npx vitest run --config vitest.ray.config.ts callbacks-latency` prints it; npm test does not run it.
 */
import { randomUUID } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { createS3Store } from "../../../src/runners/ray/stores/s3-store.js";
import { BUCKET, CREDENTIALS, type S3Server, startS3Server } from "../../fixtures/s3/server.js";
import { loraTask, startWatched, temporaryFolder } from "../support.js";
import { listening } from "./listening.js";
import { headOf, PYTHON, rayRunnerOn, SOURCES } from "./support.js";

const ROUNDS = Number(process.env.IMPRINT_TEST_ROUNDS ?? 20);
vi.setConfig({ testTimeout: 1_000_000, hookTimeout: 60_000 });

let server: S3Server;
beforeAll(async () => {
  for (const [name, value] of Object.entries(CREDENTIALS)) vi.stubEnv(name, value);
  server = await startS3Server(PYTHON);
});
afterAll(() => server.close());

const bucket = () =>
  createS3Store({
    url: `s3://${BUCKET}/${randomUUID()}`,
    onNodes: join(temporaryFolder(), "copy"),
    fetchProgram: readFileSync(join(SOURCES, "imprint_trainer", "remote", "fetch.py"), "utf8"),
    env: { ...process.env, AWS_ENDPOINT_URL_S3: server.endpoint },
  });

/** Milliseconds, as the service polls: create.ts. */
const latency = async (kind: "folder" | "bucket", calls: boolean): Promise<number> => {
  const head = await headOf({ nodeEnv: CREDENTIALS });
  const wait_for = join(temporaryFolder(), "go");
  const pollMs = kind === "folder" ? 500 : 1_000;
  const runner = rayRunnerOn({
    address: head.address,
    args: [JSON.stringify({ wait_for })],
    pollMs,
    askMs: 5_000,
    callbacks: calls ? await listening() : null,
    ...(kind === "bucket" && { store: bucket() }),
  });
  const watched = startWatched(runner, loraTask({ output_dir: temporaryFolder() }));
  await watched.seen(({ type }) => type === "progress");
  await delay(pollMs * (1 + Math.random())); // at any moment between two looks
  const begun = performance.now();
  writeFileSync(wait_for, "");
  expect(await watched.outcome).toMatchObject({ type: "done" });
  return performance.now() - begun;
};

const quantile = (sorted: readonly number[], share: number): number =>
  Math.round(sorted[Math.floor(share * (sorted.length - 1))] ?? 0);

test.each(["folder", "bucket"] as const)("a %s", async (kind) => {
  const taken: Record<string, number[]> = { polled: [], called: [] };
  for (let round = 0; round < ROUNDS; round += 1) {
    taken.polled?.push(await latency(kind, false));
    taken.called?.push(await latency(kind, true));
  }
  for (const [how, all] of Object.entries(taken)) {
    const sorted = all.toSorted((a, b) => a - b);
    console.log(
      `${kind}, ${how}: median ${quantile(sorted, 0.5)} ms, 95 % ${quantile(sorted, 0.95)} ms, ${sorted.length} rounds`,
    );
  }
});

import { randomUUID } from "node:crypto";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { PutBucketPolicyCommand, S3Client } from "@aws-sdk/client-s3";
import type { ErrorCode } from "@imprint/contracts";
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from "vitest";
import { shipOnce } from "../../../src/runners/ray/storage.js";
import { createS3Store } from "../../../src/runners/ray/stores/s3-store.js";
import type { Store } from "../../../src/runners/ray/stores/store.js";
import type { TaskEvent } from "../../../src/runners/runner.js";
import { quietLog } from "../../common/quiet-log.js";
import type { FakeHead } from "../../fixtures/ray/fake-head.js";
import { BUCKET, CREDENTIALS, type S3Server, startS3Server } from "../../fixtures/s3/server.js";
import { loraTask, runnerOn, startWatched, temporaryFolder, type Watched } from "../support.js";
import { headOf, PYTHON, rayRunnerOn, SOURCES } from "./support.js";

let server: S3Server;
beforeAll(async () => {
  for (const [name, value] of Object.entries(CREDENTIALS)) vi.stubEnv(name, value);
  server = await startS3Server(PYTHON);
});
afterAll(async () => {
  await server.close();
  vi.unstubAllEnvs();
});

const program = readFileSync(join(SOURCES, "imprint_node", "fetch.py"), "utf8");
const storeAt = (prefix: string, bucket = BUCKET): Store & { readonly onNodes: string } =>
  createS3Store({
    url: `s3://${bucket}/${prefix}`,
    onNodes: join(temporaryFolder(), "copy"),
    fetchProgram: program,
    env: { ...process.env, AWS_ENDPOINT_URL_S3: server.endpoint },
  });

const task = (spec: Partial<ReturnType<typeof loraTask>["spec"]> = {}) => loraTask({ output_dir: temporaryFolder(), ...spec });
const failedWith = (code: ErrorCode, message: RegExp): unknown => ({
  type: "failed",
  error: expect.objectContaining({ code, message: expect.stringMatching(message) }),
});
const WAIT_MS = 20_000;
const done = expect.objectContaining({ type: "done" });
const stepsOf = ({ events }: Watched): readonly number[] =>
  events.flatMap((event) => (event.type === "progress" ? [event.progress.step] : []));
const contentsOf = (folder: string): Readonly<Record<string, string>> =>
  Object.fromEntries(readdirSync(folder).map((name) => [name, readFileSync(join(folder, name), "base64")]));
/** Its folder on the node, by the submission. */
const attemptOf = (head: FakeHead, at = 0): string =>
  String((head.submissions[at] as { runtime_env: { env_vars: Record<string, string> } }).runtime_env.env_vars.IMPRINT_ATTEMPT);

interface Held {
  readonly head: FakeHead;
  readonly store: Store & { readonly onNodes: string };
  readonly watched: Watched;
  /** Lets the trainer go on. */
  readonly go: () => void;
  /** Resolves when the service has said so. */
  readonly warned: (message: RegExp) => Promise<void>;
}

/** A job in mid-training that waits to go on, on nodes that see nothing but the store. */
const held = async (options: object = {}, behaviour: object = {}, spec: object = {}): Promise<Held> => {
  const head = await headOf({ nodeEnv: CREDENTIALS });
  const store = storeAt(`held/${randomUUID()}`);
  const log = quietLog();
  const wait_for = join(temporaryFolder(), "go");
  const args = [JSON.stringify({ wait_for, ...behaviour })];
  const runner = rayRunnerOn({ args, address: head.address, store, pollMs: 100, log, ...options });
  const watched = startWatched(runner, task(spec));
  const isHeld = ({ type }: TaskEvent): boolean => type === ("checkpoint" in behaviour ? "checkpoint" : "progress");
  await watched.seen(isHeld);
  const warned = (message: RegExp): Promise<void> => vi.waitFor(() => expect(log.lines.join("\n")).toMatch(message), WAIT_MS);
  return { head, store, watched, go: () => writeFileSync(wait_for, ""), warned };
};

test("a job is done with the files that this machine's own runner writes, byte for byte; no secret is submitted, nothing is left", async () => {
  const head = await headOf({ nodeEnv: CREDENTIALS });
  const store = storeAt("whole");
  const name = await shipOnce(store, "trainer", join(SOURCES, "imprint_node"));
  const sources = async () => ({ name, onNodes: SOURCES });
  const [there, here] = [task(), task()];
  const watched = startWatched(rayRunnerOn({ address: head.address, store, pollMs: 100, sources }), there);
  const local = startWatched(runnerOn("trainer.mjs"), here);
  expect([await watched.outcome, await local.outcome]).toEqual([done, done]);
  const own = { "training.json": expect.any(String) }; // says where it was written
  expect(contentsOf(there.spec.output_dir)).toEqual({ ...contentsOf(here.spec.output_dir), ...own });
  expect(stepsOf(watched)).toEqual(stepsOf(local));
  expect(readdirSync(join(store.onNodes, "trainer"))).toEqual([name.slice("trainer/".length)]);
  expect(JSON.stringify(head.submissions)).not.toMatch(/a-key|a-secret-of-the-store/);
  expect(await store.list("jobs/test")).toEqual([]);
  expect(existsSync(attemptOf(head))).toBe(false);
});

test("a store that neither side reaches for a while: nothing is concluded, and nothing is lost", async () => {
  const { watched, go, warned } = await held();
  server.cut();
  onTestFinished(() => server.heal());
  go();
  await warned(/storage does not answer/);
  server.heal();
  expect(await watched.outcome).toEqual(done);
  expect(stepsOf(watched)).toEqual([1, 2, 3]);
});

test("a cancel in mid-training is heard", async () => {
  const { watched, store } = await held();
  watched.cancel();
  expect(await watched.outcome).toEqual({ type: "cancelled" });
  await vi.waitFor(async () => expect(await store.list("jobs/test")).toEqual([]), WAIT_MS);
});

test("a trainer that crashes fails its job, with its log", async () => {
  const { watched, go } = await held({}, { exit: 9, stderr: "the last words\n" });
  go();
  expect(await watched.outcome).toEqual(failedWith("WORKER_CRASHED", /exit code 9/));
  expect(watched.logText()).toContain("the last words");
});

test("a zombie of an attempt that was given up stops by itself and takes what it left on the store with it; the next one went on from its checkpoint", async () => {
  const dir = temporaryFolder();
  const { head, store, watched, go } = await held(
    { limits: { lostAfterMs: 700, patienceMs: 60_000, killMs: 1000 } },
    { checkpoint: true, steps: 3 },
    { checkpoint: { dir, seconds: 0, start: "fresh" } },
  );
  const zombie = attemptOf(head);
  const name = relative(store.onNodes, zombie);
  await vi.waitFor(async () => expect(await store.list(`${name}/checkpoint`)).toContain("checkpoint.json"), WAIT_MS);
  head.kill("SIGSTOP"); // a machine that nobody hears of
  head.restart("zombies");
  await head.submitted(2);
  go();
  expect(await watched.outcome).toEqual(done);
  expect(stepsOf(watched)).toEqual([1, 2, 3]);
  expect(JSON.parse(readFileSync(join(dir, "checkpoint.json"), "utf8"))).toMatchObject({ step: 2 }); // the first of the second attempt
  head.kill("SIGCONT");
  await vi.waitFor(() => expect(existsSync(zombie)).toBe(false), WAIT_MS);
  await vi.waitFor(async () => expect(await store.list("jobs/test")).toEqual([]), WAIT_MS);
});

test.each([
  ["a bucket that is not there", "no-such-bucket", /NoSuchBucket/],
  ["a bucket that denies writing", "denied", /HTTP 403/],
])("%s fails the job with the reason, and nothing is submitted", async (_, prefix, reason) => {
  const head = await headOf();
  const denied = prefix === "denied";
  if (denied) {
    const Policy = {
      Version: "2012-10-17",
      Statement: [{ Effect: "Deny", Principal: "*", Action: "s3:PutObject", Resource: "*" }],
    };
    const client = new S3Client({ endpoint: server.endpoint, forcePathStyle: true, region: "us-east-1" });
    await client.send(new PutBucketPolicyCommand({ Bucket: BUCKET, Policy: JSON.stringify(Policy) }));
  }
  const store = storeAt(prefix, denied ? BUCKET : prefix);
  const outcome = await startWatched(rayRunnerOn({ address: head.address, store }), task()).outcome;
  expect(outcome).toEqual(failedWith("STORAGE_FAILED", reason));
  expect(head.submissions).toEqual([]);
});

/** `npm run check-ray` runs this against a head of this machine, which takes two gigabytes and minutes: npm test does not. */
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { join } from "node:path";
import { beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { createJobsApi, exchange } from "../../../src/runners/ray/jobs-api.js";
import { conformance } from "../conformance.js";
import { loraTask, startWatched, temporaryFolder } from "../support.js";
import { rayRunnerOn } from "./support.js";

vi.setConfig({ testTimeout: 300_000, hookTimeout: 300_000 });
const { RAY_CHECK_ADDRESS: address = "", RAY_CHECK_TOKEN: token = "", RAY_CHECK_CONTROL: control = "" } = process.env;
/** Times for a machine that starts a process of Ray's in seconds. */
const PATIENT = {
  limits: { lostAfterMs: 15_000, patienceMs: 120_000, killMs: 30_000 },
  startTimeoutMs: 60_000,
  askMs: 500,
  pollMs: 100,
};

const task = () => loraTask({ output_dir: temporaryFolder() });
const asked = async (path: string, submission?: object): Promise<unknown> => {
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  const method = submission === undefined ? "GET" : "POST";
  const { text } = await exchange(new URL(`${address}/api/jobs/${path}`), { headers, method }, JSON.stringify(submission));
  return JSON.parse(text);
};
const held = async (options: object = {}) => {
  const wait_for = join(temporaryFolder(), "go");
  const runner = rayRunnerOn({ address, token, ...PATIENT, args: [JSON.stringify({ wait_for })], ...options });
  const watched = startWatched(runner, task());
  await watched.seen(({ type }) => type === "progress");
  return { watched, go: () => writeFileSync(wait_for, "") };
};
/** scripts/lib/ray-check.mjs holds the head. */
const tell = async (what: "kill" | "start"): Promise<void> => {
  const response = await fetch(`${control}/${what}`, { method: "POST" });
  if (!response.ok) throw new Error(await response.text());
};

describe("what the fake says", () => {
  test("has the shape of what a head says", async () => {
    const recorded = JSON.parse(readFileSync(new URL("../../fixtures/ray/answers.json", import.meta.url), "utf8"));
    const submission = { entrypoint: "sleep 1", submission_id: "imprint-shape" };
    const submitted = await asked("", submission);
    expect(Object.keys(submitted as object).sort()).toEqual(Object.keys(recorded.submitted).sort());
    expect(Object.keys((await asked("imprint-shape")) as object).sort()).toEqual(Object.keys(recorded.job).sort());
    expect(Object.keys((await asked("imprint-shape/logs")) as object)).toEqual(Object.keys(recorded.logs));
    const api = createJobsApi({ address, token });
    expect(await api.submit({ ...submission, runtime_env: { env_vars: {} }, metadata: {}, entrypoint_num_cpus: 0.1 })).toEqual({
      type: "exists",
    });
    expect(await api.status("imprint-nobody")).toEqual({ type: "missing" });
    expect(await createJobsApi({ address, token: null }).list()).toEqual({
      type: "refused",
      why: `401: ${recorded.unauthorized}`,
    });
    expect(await createJobsApi({ address, token: "another" }).list()).toEqual({
      type: "refused",
      why: `403: ${recorded.forbidden}`,
    });
    expect(await api.stop("imprint-shape")).toMatchObject({ type: "ok" });
  });
});

conformance("the Ray runner on a real head", (worker, args) => rayRunnerOn({ worker, args, address, token, ...PATIENT }));

describe("what goes wrong on a real head", () => {
  test("a killed supervisor fails its job with the reason", async () => {
    const { watched } = await held();
    const pids = execFileSync("pgrep", ["-f", "imprint_node"], { encoding: "utf8" }).trim().split("\n").map(Number);
    for (const pid of pids) process.kill(pid, "SIGKILL");
    expect(await watched.outcome).toMatchObject({ type: "failed", error: { code: "WORKER_CRASHED" } });
  });

  test("a cut between service and head that heals loses nothing", async () => {
    const { port } = new URL(address);
    const sockets = new Set<Socket>();
    let cut = false;
    const proxy = createServer((socket) => {
      if (cut) return void socket.destroy();
      const head = connect(Number(port), "127.0.0.1");
      for (const one of [socket, head]) {
        sockets.add(one);
        one.on("error", () => {}).on("close", () => sockets.delete(one));
      }
      socket.pipe(head).pipe(socket);
    });
    await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void proxy.close());
    const { watched, go } = await held({ address: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}` });
    cut = true;
    for (const socket of sockets) socket.destroy();
    go();
    expect(await watched.outcome).toMatchObject({ type: "done" });
    cut = false;
  });

  test("a head that is killed in mid-job and comes back: the job is tried again", async () => {
    const { watched, go } = await held();
    await tell("kill");
    go();
    await tell("start");
    expect(await watched.outcome).toMatchObject({ type: "done" });
    expect(watched.logText()).toContain("It is tried again.");
  });

  test("a head that is killed and stays away fails the job with the reason", async () => {
    const { watched } = await held({ limits: { lostAfterMs: 5_000, patienceMs: 10_000, killMs: 5_000 } });
    await tell("kill");
    expect(await watched.outcome).toMatchObject({ type: "failed", error: { code: "CLUSTER_UNREACHABLE" } });
  });
});

beforeAll(() => {
  if (address === "") throw new Error("npm run check-ray starts a head for this");
});

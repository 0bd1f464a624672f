import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { VERSION } from "@imprint/contracts";
import { beforeAll, expect, test, vi } from "vitest";
import { LIMITS } from "../src/config/limits.js";
import { makeNative } from "./support/native.js";
import { build, gone, isAlive, type Process, startProcess, workerPid } from "./support/process.js";
import { makeFolder } from "./support/service.js";
import { putSession } from "./support/session.js";

beforeAll(build, 120_000);

const running = (service: Process, id: string): Promise<void> =>
  vi.waitFor(
    async () => {
      const job = (await (await service.fetch(`/jobs/${id}/details`)).json()) as { progress: unknown };
      if (job.progress === null) throw new Error("not running yet");
    },
    { timeout: 10_000, interval: 10 },
  );

/** The answer to a start call once the service shuts down. */
const refusing = (service: Process): Promise<Response> =>
  vi.waitFor(async () => {
    const init = { method: "POST", headers: { "content-type": "application/json" }, body: '{"session_id":"none"}' };
    const response = await service.fetch("/train/lora", init);
    if (response.status !== 503) throw new Error("not shutting down yet");
    return response;
  });

test("server.json names the service while it runs, and the data directory is closed to others", async () => {
  const folder = makeFolder();
  const service = await startProcess(folder);
  const path = join(folder, "data", "server.json");
  expect(JSON.parse(readFileSync(path, "utf8"))).toEqual({ url: service.url, pid: service.child.pid });
  expect(statSync(join(folder, "data")).mode & 0o777).toBe(0o700);
  expect(await (await service.fetch("/health")).json()).toEqual({
    status: "healthy",
    service: "imprint",
    version: VERSION,
    preparing: [],
  });
  service.child.kill("SIGTERM");
  expect(await service.ended).toEqual([0, null]);
  expect(existsSync(path)).toBe(false);
});

test("the program has all that it loads late: importers, the description, the page's files", async () => {
  const service = await startProcess(makeFolder());
  const headers = { "content-type": "application/json" };
  const stored = await service.fetch("/sessions", { method: "POST", headers, body: makeNative("s1") });
  expect(stored.status).toBe(201);
  expect(await (await service.fetch("/openapi.json")).json()).toMatchObject({ openapi: "3.1.0" });
  expect((await service.fetch("/docs/swagger-ui.css")).status).toBe(200);
});

test("a second service on the same data directory refuses to start", async () => {
  const folder = makeFolder();
  await startProcess(folder);
  await expect(startProcess(folder)).rejects.toThrow("ended before it listened");
});

test("SIGTERM lets a running job end, refuses new ones, and then exits with 0", async () => {
  const folder = makeFolder();
  const gate = join(folder, "gate");
  const service = await startProcess(folder, { behaviour: { wait_for: gate }, env: { IMPRINT_SHUTDOWN_GRACE: "30" } });
  putSession(join(folder, "data"), "s1");
  const id = await service.start({ session_id: "s1", adapter_id: "kept" });
  await running(service, id);
  service.child.kill("SIGTERM");
  const refused = await refusing(service);
  expect(refused.headers.get("retry-after")).toBe("5");
  expect(await refused.json()).toMatchObject({ code: "SHUTTING_DOWN" });
  expect((await service.fetch("/health")).status).toBe(200);
  writeFileSync(gate, "");
  expect(await service.ended).toEqual([0, null]);
  expect(existsSync(join(folder, "data", "adapters", "kept", "adapter_config.json"))).toBe(true);
});

test("a second signal waits neither for the job nor for a trainer that ignores its cancel; no trainer and no staging folder is left", async () => {
  const folder = makeFolder();
  const service = await startProcess(folder, {
    behaviour: { wait_for: join(folder, "never"), ignore_cancel: true },
    env: { IMPRINT_SHUTDOWN_GRACE: "600" },
  });
  putSession(join(folder, "data"), "s1");
  await running(service, await service.start({ session_id: "s1" }));
  const pid = workerPid(folder) ?? 0;
  expect(isAlive(pid)).toBe(true);
  service.child.kill("SIGINT");
  await refusing(service);
  const begin = performance.now();
  service.child.kill("SIGINT");
  expect(await service.ended).toEqual([0, null]);
  expect(performance.now() - begin).toBeLessThan(LIMITS.cancelGraceMs);
  await gone(pid);
  expect(readdirSync(join(folder, "data", "adapters", ".staging"))).toEqual([]);
});

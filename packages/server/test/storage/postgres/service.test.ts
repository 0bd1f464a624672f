import { existsSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { makeNative } from "../../support/native.js";
import { type Postgres, useCluster } from "../../support/postgres.js";
import { makeFolder, type Service, startLora, startService } from "../../support/service.js";

const cluster = useCluster();

const importOne = (service: Service, id: string) => service.post("/sessions", makeNative(id));

const idsIn = async (service: Service, what: "adapters" | "sessions"): Promise<readonly string[]> => {
  const answer = (await service.get(`/${what}`)).json<Record<string, Record<string, string>[]>>();
  return (answer[what] ?? []).map((one) => one[what === "adapters" ? "adapter_id" : "session_id"] ?? "");
};

const ended = async (service: Service, body: Readonly<Record<string, unknown>>) => service.ended(await startLora(service, body));

test("a service keeps its registry in Postgres, and finds it there when it starts again", async () => {
  const [dataDir, database_url] = [makeFolder(), await cluster().create()];
  const first = await startService({ dataDir, flags: { database_url } });
  expect((await importOne(first, "s-1")).statusCode).toBe(201);
  expect((await ended(first, { session_id: "s-1", adapter_id: "a-1" })).status).toBe("completed");
  expect((await first.get("/adapters/a-1")).json()).toMatchObject({ health: "ok", session_ids: ["s-1"] });
  await first.close(0);
  expect(existsSync(join(dataDir, "registry.db"))).toBe(false);
  expect(readdirSync(join(dataDir, "services"))).toEqual([]);
  const second = await startService({ dataDir, flags: { database_url } });
  expect([await idsIn(second, "adapters"), await idsIn(second, "sessions")]).toEqual([["a-1"], ["s-1"]]);
  expect((await second.call({ method: "DELETE", url: "/adapters/a-1?purge=true" })).statusCode).toBe(204);
  expect(readdirSync(join(dataDir, "adapters")).filter((name) => !name.startsWith("."))).toEqual([]);
});

const two = async (behaviour: object = {}): Promise<readonly [Service, Service]> => {
  const [dataDir, database_url] = [makeFolder(), await cluster().create()];
  const start = () => startService({ dataDir, flags: { database_url }, behaviour });
  return [await start(), await start()];
};

test("what one service stores, the other one lists, reads, trains on and deletes", async () => {
  const [left, right] = await two();
  await importOne(left, "s-1");
  expect(await idsIn(right, "sessions")).toEqual(["s-1"]);
  expect((await ended(right, { session_id: "s-1", adapter_id: "a-1" })).status).toBe("completed");
  expect((await left.get("/adapters/a-1")).json()).toMatchObject({ health: "ok" });
  const file = (await left.get("/adapters/a-1")).json().files[0].name;
  const reading = left.get(`/adapters/a-1/files/${file}`);
  expect((await right.call({ method: "DELETE", url: "/adapters/a-1?purge=true" })).statusCode).toBe(204);
  expect([200, 404, 409]).toContain((await reading).statusCode);
  expect((await left.get("/adapters/a-1")).statusCode).toBe(404);
  expect((await right.call({ method: "DELETE", url: "/sessions/s-1" })).statusCode).toBe(204);
  expect((await left.get("/sessions/s-1")).statusCode).toBe(404);
});

test("of two services one makes an adapter id, and the other one says that it is taken", async () => {
  const gate = join(makeFolder(), "go");
  const [left, right] = await two({ wait_for: gate });
  await importOne(left, "s-1");
  const job = await startLora(left, { session_id: "s-1", adapter_id: "mine" });
  await left.reached(job, ({ phase, progress }) => phase === "training" && progress !== null);
  const refused = await right.post("/train/lora", { session_id: "s-1", adapter_id: "mine" });
  expect([refused.statusCode, refused.json().code]).toEqual([409, "ADAPTER_ID_TAKEN"]);
  writeFileSync(gate, "");
  expect((await left.ended(job)).status).toBe("completed");
  expect((await right.post("/train/lora", { session_id: "s-1", adapter_id: "mine" })).statusCode).toBe(409);
});

test("a checkpoint is gone on with by another service, once its job has ended", async () => {
  const gate = join(makeFolder(), "go");
  const [left, right] = await two({ wait_for: gate, checkpoint: true });
  await importOne(left, "s-1");
  const job = await startLora(left, { session_id: "s-1" });
  await left.reached(job, ({ checkpoint }) => checkpoint !== null);
  const early = await right.post("/train/lora", { resume_from: job });
  expect([early.statusCode, early.json().code]).toEqual([409, "JOB_NOT_FINISHED"]);
  await left.post(`/jobs/${job}/cancel`);
  expect((await left.ended(job)).status).toBe("cancelled");
  writeFileSync(gate, "");
  expect(await ended(right, { resume_from: job })).toMatchObject({ status: "completed" });
});

const answers = (service: Service, status: number) =>
  vi.waitFor(async () => expect((await service.get("/adapters")).statusCode).toBe(status), { timeout: 15_000, interval: 50 });

test("a database that goes away is a 503 with a sentence, and back again needs no new start", async () => {
  const own: Postgres = cluster();
  const [dataDir, database_url] = [makeFolder(), await own.create()];
  const gate = join(makeFolder(), "go");
  const service = await startService({ dataDir, flags: { database_url }, behaviour: { wait_for: gate, wait_in: "saving" } });
  await importOne(service, "s-1");
  const job = await startLora(service, { session_id: "s-1", adapter_id: "a-1" });
  await service.reached(job, ({ progress }) => progress?.step === 3);
  for (const how of ["SIGINT", "SIGQUIT"] as const) {
    await own.stop(how);
    try {
      const answer = await service.get("/adapters");
      expect([answer.statusCode, answer.json().code]).toEqual([503, "DATABASE_UNAVAILABLE"]);
      expect(answer.headers["retry-after"]).toBe("5");
      expect(answer.json().detail).toMatch(/database does not answer/);
      expect((await importOne(service, "s-2")).statusCode).toBe(503);
      expect((await service.get("/health")).statusCode).toBe(200);
      if (how === "SIGQUIT") {
        writeFileSync(gate, "");
        const failed = await service.ended(job);
        expect([failed.status, failed.error?.code]).toEqual(["failed", "DATABASE_UNAVAILABLE"]);
      }
    } finally {
      await own.start();
    }
    await answers(service, 200);
  }
  expect(readdirSync(join(dataDir, "adapters")).filter((name) => !name.startsWith("."))).toEqual([]);
  expect((await importOne(service, "s-2")).statusCode).toBe(201);
  expect((await ended(service, { session_id: "s-2", adapter_id: "a-1" })).status).toBe("completed");
});

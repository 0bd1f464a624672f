import { join } from "node:path";
import fc from "fast-check";
import { sql } from "kysely";
import { expect, test } from "vitest";
import { openDatabase } from "../../src/storage/open.js";
import { afterPrefix } from "../../src/storage/schema.js";
import { inTransaction } from "../../src/storage/transaction.js";
import { makeFolder, type Service, startLora, startService } from "../support/service.js";
import { putSession } from "../support/session.js";

const native = (text: string): string =>
  JSON.stringify({
    messages: [
      { role: "user", content: text },
      { role: "assistant", content: "ok" },
    ],
  });

type Listed = readonly { readonly [key: string]: string }[];

const listed = async (service: Service, route: string, key: string, query: string): Promise<readonly string[]> =>
  ((await service.get(`/${route}?${query}`)).json()[route] as Listed).map((one) => one[key] ?? "");

test("lists tell only what begins with the prefix: sessions put by hand and imported, adapters and jobs", async () => {
  const service = await startService();
  for (const id of ["gates-v1", "gates", "Gates", "other"]) putSession(service.dataDir, id);
  const imported = (await service.post("/sessions", native("one"))).json().session_id as string;
  const jobs: string[] = [];
  for (const adapter_id of ["gates-a", "gatesx", "zebra"])
    jobs.push(await startLora(service, { session_id: "gates", adapter_id }));
  for (const job of jobs) await service.ended(job);

  const sessions = await listed(service, "sessions", "session_id", "");
  const adapters = await listed(service, "adapters", "adapter_id", "");
  expect([sessions.length, adapters.length]).toEqual([5, 3]);
  for (const prefix of ["gates", "gates-", "G", imported.slice(0, 5), imported, "x%", "_"]) {
    const begins = (id: string): boolean => id.startsWith(prefix);
    const query = `prefix=${encodeURIComponent(prefix)}`;
    expect(await listed(service, "sessions", "session_id", query)).toEqual(sessions.filter(begins));
    expect(await listed(service, "adapters", "adapter_id", query)).toEqual(adapters.filter(begins));
  }
  const [first = ""] = jobs;
  expect(await listed(service, "jobs", "job_id", `prefix=${first}`)).toEqual([first]);
  expect(await listed(service, "jobs", "job_id", `prefix=${first.slice(0, 4)}`)).toEqual([...jobs].reverse());
  expect(await listed(service, "sessions", "session_id", "prefix=gates&search=nothing")).toEqual([]);
  expect((await service.get("/jobs?prefix=")).statusCode).toBe(422);
});

test("a range of ids is what begins with the prefix, and is found by the index", async () => {
  const id = fc.stringMatching(/^[A-Za-z0-9][A-Za-z0-9._-]{0,6}$/);
  fc.assert(
    fc.property(id, id, (one, prefix) => (one >= prefix && one < afterPrefix(prefix)) === one.startsWith(prefix)),
    { numRuns: 1000 },
  );
  const database = openDatabase({ path: join(makeFolder(), "registry.db") });
  for (const [table, column] of [
    ["sessions", "session_id"],
    ["adapters", "adapter_id"],
  ] as const) {
    const plan = await inTransaction(database, (db) =>
      sql<{ detail: string }>`explain query plan select * from ${sql.table(table)}
        where ${sql.ref(column)} >= 'gate' and ${sql.ref(column)} < ${afterPrefix("gate")} order by seq desc`.execute(db),
    );
    expect(plan.rows.map(({ detail }) => detail).join("\n")).toMatch(new RegExp(`SEARCH ${table} USING INDEX .*${column}>`));
  }
  await database.destroy();
});

test("a list tells the adapter's id of a job that did not end, and the record of a job does not", async () => {
  const service = await startService({ behaviour: { wait_for: join(makeFolder(), "never") } });
  putSession(service.dataDir, "s1");
  const running = await startLora(service, { session_id: "s1", adapter_id: "first" });
  const waiting = await startLora(service, { session_id: "s1", adapter_id: "second" });
  const reserved = async () => {
    const { jobs } = (await service.get("/jobs")).json();
    return jobs.map((job: Record<string, unknown>) => [job.job_id, job.adapter_id, job.reserved_adapter_id]);
  };
  expect(await reserved()).toEqual([
    [waiting, null, "second"],
    [running, null, "first"],
  ]);
  await service.post(`/jobs/${waiting}/cancel`);
  expect(await reserved()).toEqual([
    [waiting, null, null],
    [running, null, "first"],
  ]);
  expect(Object.keys((await service.get(`/jobs/${running}`)).json())).toEqual(["job_id", "status", "adapter_id"]);
});

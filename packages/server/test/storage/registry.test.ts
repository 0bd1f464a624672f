import { join } from "node:path";
import { setImmediate as turn } from "node:timers/promises";
import { latestOf, type SessionSummary } from "@imprint/contracts";
import fc from "fast-check";
import { expect, onTestFinished, test } from "vitest";
import { lastSpeeds, recordSpeed } from "../../src/kinds/lora/estimate.js";
import { listProjects, membersOf, putMembers, putProject, putRun, removeProject, runsOf } from "../../src/projects/rows.js";
import {
  type AdapterRow,
  adapterIds,
  archiveAdapter,
  findAdapter,
  insertAdapter,
  isAdapterIdTaken,
  listAdapters,
} from "../../src/registry/adapters.js";
import { dropAlias, listAliases, pointAlias } from "../../src/registry/aliases.js";
import { insertUpload, listUploads } from "../../src/routes/fine-tuning/uploads.js";
import { findIndexed, forgetSession, indexedIds, indexSessions, idsOf as sessionIds } from "../../src/sessions/index-table.js";
import { openDatabase } from "../../src/storage/open.js";
import type { Database } from "../../src/storage/schema.js";
import { createLazyTransaction, inTransaction } from "../../src/storage/transaction.js";
import { makeFolder } from "../support/service.js";
import { adapterRow, runRow, sessionSummary } from "./rows.js";

const indexed = (summary: SessionSummary, more: object = {}) => ({ summary, fingerprint: null, byHand: false, ...more });

const make = async (): Promise<Database> => {
  const database = openDatabase({ path: join(makeFolder(), "registry.db") });
  onTestFinished(() => database.destroy());
  return database;
};

test("an adapter comes back as it was registered, and its id is written once", async () => {
  const database = await make();
  const row = adapterRow("a-1", { size: 2 ** 40, alpha: 12.5, metadata: { "o'brien": '50 % "größer" \u0000 \ud83d\ude00' } });
  await inTransaction(database, (db) => insertAdapter(db, row));
  expect(await inTransaction(database, (db) => findAdapter(db, "a-1"))).toEqual(row);
  await expect(inTransaction(database, (db) => insertAdapter(db, { ...row, job_id: "another" }))).rejects.toThrow();
  await expect(inTransaction(database, (db) => insertAdapter(db, { ...row, adapter_id: "another" }))).rejects.toThrow();
  expect((await inTransaction(database, (db) => listAdapters(db, { filter: {}, limit: 9 }))).adapters).toHaveLength(1);
});

test("what no column may hold is refused", async () => {
  const database = await make();
  for (const wrong of [{ rank: 0 }, { size: 0 }, { sha256: "short" }, { method: "other" as "lora" }])
    await expect(inTransaction(database, (db) => insertAdapter(db, adapterRow("a-1", wrong)))).rejects.toThrow();
  const noJson = database.insertInto("sessions").values({ session_id: "s", summary: "{" });
  await expect(noJson.execute()).rejects.toThrow();
});

test("adapters are listed newest first, page by page, and found by what they are and where their ids begin", async () => {
  const database = await make();
  const ids = ["a-1", "A-2", "a_3", "b-4", "ä-5"];
  for (const [at, id] of ids.entries())
    await inTransaction(database, (db) =>
      insertAdapter(
        db,
        adapterRow(id, { session_ids: at % 2 ? ["S1", "s2"] : ["s1"], task_type: at < 2 ? "code-gen" : "other" }),
      ),
    );
  const list = (filter: object, limit = 9, after?: string) =>
    inTransaction(database, (db) => listAdapters(db, { filter, limit, ...(after === undefined ? {} : { after }) }));
  const idsOf = async (filter: object) => (await list(filter)).adapters.map((one) => one.adapter_id);
  expect(await idsOf({})).toEqual(ids.toReversed());
  const first = await list({}, 2);
  expect([first.next, (await list({}, 9, first.next ?? "")).adapters.length]).toEqual(["b-4", 3]);
  expect(await idsOf({ prefix: "a" })).toEqual(["a_3", "a-1"]);
  expect(await idsOf({ session_id: "s1" })).toEqual(["ä-5", "a_3", "a-1"]);
  expect(await idsOf({ session_id: "S1", task_type: "code-gen" })).toEqual(["A-2"]);
  expect(await idsOf({ base_model: "none\u0000" })).toEqual([]);
});

test("adapters are sorted by what an evaluation said, tasks solved and size, page by page", async () => {
  const database = await make();
  const said = (verdict: string) => ({ evaluation: { verdict } as AdapterRow["evaluation"] });
  const solved = (count: number, of: number) => ({ tasks: { solved: count, of } as AdapterRow["tasks"] });
  const rows: readonly Partial<AdapterRow>[] = [
    { ...said("helps"), ...solved(1, 4), size: 7 },
    { ...said("harms"), ...solved(5, 12), size: 30 },
    { ...solved(0, 0), size: 9 },
    { ...said("no_evidence"), ...solved(0, 4), size: 30 },
    { ...said("helps"), size: 200 },
  ];
  for (const [at, row] of rows.entries()) await inTransaction(database, (db) => insertAdapter(db, adapterRow(`a${at}`, row)));
  for (const [sort, expected] of [
    ["helps", ["a4", "a0", "a3", "a1", "a2"]],
    ["tasks", ["a1", "a0", "a3", "a4", "a2"]],
    ["size", ["a4", "a3", "a1", "a2", "a0"]],
    ["created", ["a4", "a3", "a2", "a1", "a0"]],
  ] as const) {
    const found: string[] = [];
    for (let after: { readonly after?: string } | null = {}; after !== null; ) {
      const page = await inTransaction(database, (db) => listAdapters(db, { filter: {}, limit: 2, sort, ...after }));
      found.push(...page.adapters.map((one) => one.adapter_id));
      after = page.next === null ? null : { after: page.next };
    }
    expect(found).toEqual(expected);
  }
});

test("an archived adapter keeps its id, and a purged one is known as such", async () => {
  const database = await make();
  await inTransaction(database, (db) => insertAdapter(db, adapterRow("a-1")));
  const archive = (purge: boolean, at: string, adapterId = "a-1") =>
    inTransaction(database, (db) => archiveAdapter(db, { adapterId, at, purge }));
  expect([await archive(false, "2026-01-01"), await archive(true, "2026-01-02"), await archive(false, "x", "none")]).toEqual([
    true,
    true,
    false,
  ]);
  expect(await inTransaction(database, (db) => findAdapter(db, "a-1"))).toBeNull();
  expect(await inTransaction(database, (db) => isAdapterIdTaken(db, "a-1"))).toBe(true);
  const { kept, purged } = await inTransaction(database, adapterIds);
  expect([[...kept], [...purged]]).toEqual([[], ["a-1"]]);
  const [row] = await database.selectFrom("adapters").select(["archived_at", "purged_at"]).execute();
  expect(row).toEqual({ archived_at: "2026-01-01", purged_at: "2026-01-02" });
});

test("a project is removed with its runs and sessions, unless there is none, and others stay", async () => {
  const database = await make();
  const at = "2026-01-01T00:00:00.000Z";
  for (const name of ["shop", "Shop", "shop-2"])
    await inTransaction(database, async (db) => {
      await putProject(db, { name, base_model: "m", folders: ["/home"], settings: { rank: 4 }, created_at: at });
      await putMembers(db, [
        { project: name, session_id: "s", sha256: "x", content: "c", opening: "o", at, characters: 2 ** 33 },
      ]);
      await putRun(db, runRow(name));
      await pointAlias(db, { alias: latestOf(name), adapterId: `${name}-1`, at });
    });
  const left = () =>
    inTransaction(database, async (db) => [
      (await listProjects(db)).map(({ name }) => name),
      [...(await membersOf(db, "shop")), ...(await runsOf(db, "shop"))].length,
      [...(await membersOf(db, "shop-2")), ...(await runsOf(db, "shop-2"))].length,
      (await listAliases(db)).map(({ alias }) => alias),
    ]);
  expect(await left()).toEqual([["shop-2", "Shop", "shop"], 2, 2, ["Shop@latest", "shop-2@latest", "shop@latest"]]);
  const remove = () =>
    inTransaction(database, async (db) => {
      await dropAlias(db, "shop@latest");
      return removeProject(db, "shop");
    });
  expect([await remove(), await remove()]).toEqual([true, false]);
  expect(await left()).toEqual([["shop-2", "Shop"], 0, 2, ["Shop@latest", "shop-2@latest"]]);
});

test("uploads and speeds come in their order", async () => {
  const database = await make();
  for (const at of [1, 2, 3]) {
    const upload = { file_id: `f-${at}`, filename: "näme.jsonl", bytes: 2 ** 33 + at, created_at: "2026-01-01" };
    await inTransaction(database, (db) => insertUpload(db, upload));
    await inTransaction(database, (db) =>
      recordSpeed(db, { base_model: "m", quantization: "nf4", tokens_per_second: at + 0.25 }),
    );
  }
  const uploads = await inTransaction(database, (db) => listUploads(db, { order: "asc", limit: 9, after: "f-1" }));
  expect(uploads.map(({ file_id, bytes }) => [file_id, bytes])).toEqual([
    ["f-2", 2 ** 33 + 2],
    ["f-3", 2 ** 33 + 3],
  ]);
  const speeds = await inTransaction(database, (db) => lastSpeeds(db, { base_model: "m", quantization: "nf4" }));
  expect(speeds).toEqual([3.25, 2.25, 1.25]);
});

test("the index of sessions says what was said to it last, whatever was said", async () => {
  const database = await make();
  const id = fc.constantFrom("s1", "S1", "s1-b", "s2", "t");
  const task = fc.constantFrom("Fix the GATE", "50 % off_now", "it's \u0000 a 'gate'", "größer 😀");
  const change = fc.oneof(
    fc.record({ type: fc.constant("index" as const), id, task, byHand: fc.boolean(), newest: fc.boolean() }),
    fc.record({ type: fc.constant("forget" as const), id }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(change, { maxLength: 12 }), async (changes) => {
      await database.deleteFrom("sessions").execute();
      const known = new Map<string, { readonly task: string; readonly byHand: boolean; readonly order: number }>();
      for (const [order, one] of changes.entries()) {
        if (one.type === "forget") {
          await inTransaction(database, (db) => forgetSession(db, one.id));
          known.delete(one.id);
          continue;
        }
        const created_at = `2026-01-01T00:00:${String(order).padStart(2, "0")}.000Z`;
        const row = indexed(sessionSummary(one.id, { task: one.task, created_at }), { byHand: one.byHand, newest: one.newest });
        await inTransaction(database, (db) => indexSessions(db, [row]));
        const stands = one.newest ? order : (known.get(one.id)?.order ?? order);
        known.set(one.id, { task: one.task, byHand: one.byHand, order: stands });
      }
      const expected = [...known].filter(([, { byHand }]) => !byHand).sort(([, a], [, b]) => b.order - a.order);
      expect([...(await inTransaction(database, indexedIds))].sort()).toEqual([...known.keys()].sort());
      expect(await inTransaction(database, (db) => sessionIds(db, { byHand: false }))).toEqual(expected.map(([found]) => found));
      for (const prefix of ["s", "s1", "S"])
        expect(await inTransaction(database, (db) => sessionIds(db, { byHand: false, prefix }))).toEqual(
          expected.map(([found]) => found).filter((found) => found.startsWith(prefix)),
        );
      for (const word of ["gate", "%", "_", "'", "größer"])
        expect(await inTransaction(database, (db) => sessionIds(db, { byHand: false, words: [word] }))).toEqual(
          expected.filter(([, one]) => one.task.toLowerCase().includes(word)).map(([found]) => found),
        );
      const rows = await inTransaction(database, (db) => findIndexed(db, ["s1", "S1", "none"]));
      for (const [found, { summary, byHand }] of rows)
        expect([summary.task, byHand]).toEqual([known.get(found)?.task, known.get(found)?.byHand]);
    }),
    { numRuns: 15 },
  );
});

test("what is rolled back was never there, and a lazy transaction that was never asked for costs nothing", async () => {
  const database = await make();
  const work = inTransaction(database, async (db) => {
    await insertAdapter(db, adapterRow("a-1"));
    throw new Error("no");
  });
  await expect(work).rejects.toThrow("no");
  expect(await inTransaction(database, (db) => isAdapterIdTaken(db, "a-1"))).toBe(false);
  const unit = createLazyTransaction(database);
  await unit.commit();
  await expect(unit.db()).rejects.toThrow("committed");
});

test("a statement that failed is undone alone, and the rest is committed", async () => {
  const database = await make();
  const unit = createLazyTransaction(database);
  const db = await unit.db();
  await insertAdapter(db, adapterRow("a-1"));
  await expect(insertAdapter(db, adapterRow("a-1"))).rejects.toThrow();
  await unit.commit();
  expect(await inTransaction(database, (again) => isAdapterIdTaken(again, "a-1"))).toBe(true);
});

test("transactions that read what others write lose nothing", async () => {
  const database = await make();
  await inTransaction(database, (db) => recordSpeed(db, { base_model: "m", quantization: "q", tokens_per_second: 1 }));
  const grow = () =>
    inTransaction(database, async (db) => {
      const [speed = 0] = await lastSpeeds(db, { base_model: "m", quantization: "q" });
      await turn();
      await db
        .updateTable("training_speeds")
        .set({ tokens_per_second: speed + 1 })
        .execute();
    });
  await Promise.all(Array.from({ length: 12 }, grow));
  expect(await inTransaction(database, (db) => lastSpeeds(db, { base_model: "m", quantization: "q" }))).toEqual([13]);
});

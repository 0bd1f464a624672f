import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { sql } from "kysely";
import { expect, onTestFinished, test } from "vitest";
import { findAdapter } from "../../src/registry/adapters.js";
import { attachEvaluation } from "../../src/registry/evaluation.js";
import { glanceAtAdapter, requireWhole, verifyAdapter } from "../../src/registry/health.js";
import { publishAdapter } from "../../src/registry/publish.js";
import { openDatabase } from "../../src/storage/open.js";
import { dataPaths, ensureDataPaths } from "../../src/storage/paths.js";
import { inTransaction } from "../../src/storage/transaction.js";
import { makeFolder, startLora, startService } from "../support/service.js";
import { putSession } from "../support/session.js";
import { makeAdapterFolder } from "./validate/adapter-folder.js";

const evaluatedAdapter = async () => {
  const service = await startService();
  putSession(service.dataDir, "s");
  putSession(service.dataDir, "t");
  await service.ended(await startLora(service, { session_id: "s", adapter_id: "a" }));
  const home = join(service.dataDir, "adapters", "a");
  const card = readFileSync(join(home, "README.md"));
  const { job_id } = (await service.post("/adapters/a/evaluate", { session_ids: ["t"], seed: 5 })).json();
  await service.ended(job_id);
  return { service, home, card };
};

test.each([
  ["before the first file", ["README.md", "evaluation.json"]],
  ["between the files", ["evaluation.json"]],
  ["after the files, before the row", []],
])("an evaluation that a crash interrupts %s arrives at the next start, with the adapter whole", async (_when, left) => {
  const { service, home, card } = await evaluatedAdapter();
  const evaluated = readFileSync(join(home, "evaluation.json"));
  await service.close(0);
  // As an interrupted one leaves it: the row is of the adapter without the evaluation.
  const { default: Libsql } = await import("libsql");
  const database = new Libsql(join(service.dataDir, "registry.db"));
  const [row] = database.prepare("select files from adapters").all() as [{ files: string }];
  const files = (JSON.parse(row.files) as { name: string }[]).filter(({ name }) => name !== "evaluation.json");
  database.prepare("update adapters set evaluation = null, files = ?").run(JSON.stringify(files));
  database.close();
  const ready = join(service.dataDir, "adapters", ".evaluated", "a");
  mkdirSync(ready);
  for (const name of left) renameSync(join(home, name), join(ready, name));
  if (left.includes("README.md")) writeFileSync(join(home, "README.md"), card);

  const again = await startService({ dataDir: service.dataDir });
  expect((await again.post("/adapters/a/verify")).json()).toMatchObject({ health: "ok", evaluation: { verdict: "helps" } });
  expect((await again.get("/adapters/a/evaluation")).json()).toEqual(JSON.parse(evaluated.toString()));
  expect(readFileSync(join(home, "README.md"), "utf8")).toContain("## Evaluation");
  expect(readdirSync(join(service.dataDir, "adapters", ".evaluated"))).toEqual([]);
});

test.each(["archived", "removed by hand"])(
  "what a crash left of an adapter that was %s is removed at the next start",
  async (how) => {
    const { service, home } = await evaluatedAdapter();
    if (how === "archived") await service.call({ method: "DELETE", url: "/adapters/a" });
    await service.close(0);
    const card = existsSync(home) && readFileSync(join(home, "README.md"), "utf8");
    const ready = join(service.dataDir, "adapters", ".evaluated", "a");
    mkdirSync(ready);
    writeFileSync(join(ready, "README.md"), "late");
    if (how !== "archived") rmSync(home, { recursive: true });
    await startService({ dataDir: service.dataDir });
    expect(existsSync(ready)).toBe(false);
    if (how === "archived") expect(readFileSync(join(home, "README.md"), "utf8")).toBe(card);
  },
);

/** A registered adapter, and an evaluation of it that is ready to be attached. */
const publishedAdapter = async () => {
  const paths = dataPaths(join(makeFolder(), "data"));
  ensureDataPaths(paths);
  const database = openDatabase({ path: paths.database });
  onTestFinished(() => database.destroy());
  const registry = { database, paths };
  const folder = join(paths.staging, "a", "adapter");
  const result = await makeAdapterFolder(folder, "a");
  const lineage = {
    adapter_id: "a",
    method: "lora" as const,
    base_model: "m",
    task_type: "code-gen",
    session_id: "s",
    session_ids: ["s"],
    job_id: "a".padEnd(26, "0"),
    metadata: {},
    created_at: "2026-01-01T00:00:00.000Z",
  };
  const row = await publishAdapter({ ...registry, folder, lineage, result, keepHarmful: false });
  const evaluate = async (card: string, evaluation: string): Promise<void> => {
    const evaluated = join(paths.staging, "b");
    mkdirSync(evaluated, { recursive: true });
    writeFileSync(join(evaluated, "README.md"), card);
    writeFileSync(join(evaluated, "evaluation.json"), evaluation);
    await attachEvaluation({ ...registry, adapterId: "a", folder: evaluated, beforeCommit: () => undefined });
  };
  return { registry, row, home: join(paths.adapters, "a"), evaluate };
};

const contentOf = (folder: string): readonly string[] =>
  readdirSync(folder).map(
    (name) =>
      `${name}: ${createHash("sha256")
        .update(readFileSync(join(folder, name)))
        .digest("hex")}`,
  );

test.each(["the first", "a later"])(
  "%s evaluation whose row finds no room leaves the adapter as it was, and whole",
  async (which) => {
    const { registry, home, evaluate } = await publishedAdapter();
    const { database, paths } = registry;
    if (which === "a later") await evaluate("# the card of the first\n", "{}");
    const before = contentOf(home);
    // As a disk that is full when the transaction ends.
    await sql`create table later (at text references adapters (adapter_id) deferrable initially deferred)`.execute(database);
    await sql`create trigger full after update on adapters begin insert into later values ('nowhere'); end`.execute(database);
    const row = await inTransaction(database, (db) => findAdapter(db, "a"));
    if (row === null) throw new Error("the adapter is gone");
    let isOver = false;
    const evaluated = evaluate("# a card of another length, which the adapter never gets\n", '{"a": 1}').finally(() => {
      isOver = true;
    });
    const seen = new Set<string>();
    const looking = async (): Promise<void> => {
      while (!isOver) seen.add((await glanceAtAdapter(registry, row)).health);
    };
    await Promise.all([expect(evaluated).rejects.toThrow(/FOREIGN KEY/), looking(), looking()]);
    expect([...seen]).toEqual(["ok"]);
    expect(contentOf(home)).toEqual(before);
    expect((await verifyAdapter(registry, row, { again: true })).health).toBe("ok");
    expect(readdirSync(paths.evaluated)).toEqual([]);
    await sql`drop trigger full`.execute(database);
    await evaluate("# a card that arrives\n", "{}");
    expect(readFileSync(join(home, "README.md"), "utf8")).toBe("# a card that arrives\n");
  },
);

test("who read an adapter's row before an evaluation changed its files finds it whole all the same", async () => {
  const { registry, row: before, home, evaluate } = await publishedAdapter();
  const { database } = registry;
  await evaluate("# another card, of another length\n", "{}");

  expect((await verifyAdapter(registry, before)).health).toBe("ok");
  expect((await glanceAtAdapter(registry, before)).health).toBe("ok");
  await requireWhole(registry, before);
  const present = await inTransaction(database, (db) => findAdapter(db, "a"));
  expect(present?.size).toBe(present?.files.reduce((sum, { size }) => sum + size, 0));
  writeFileSync(join(home, "README.md"), "altered");
  expect((await verifyAdapter(registry, before)).health).toBe("corrupt");
});

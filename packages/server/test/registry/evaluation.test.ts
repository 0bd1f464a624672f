import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
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

test("who read an adapter's row before an evaluation changed its files finds it whole all the same", async () => {
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
  const before = await publishAdapter({ ...registry, folder, lineage, result, keepHarmful: false });
  const evaluated = join(paths.staging, "b");
  mkdirSync(evaluated);
  writeFileSync(join(evaluated, "README.md"), "# another card, of another length\n");
  writeFileSync(join(evaluated, "evaluation.json"), "{}");
  await attachEvaluation({ ...registry, adapterId: "a", folder: evaluated, beforeCommit: () => undefined });

  expect((await verifyAdapter(registry, before)).health).toBe("ok");
  expect((await glanceAtAdapter(registry, before)).health).toBe("ok");
  await requireWhole(registry, before);
  const present = await inTransaction(database, (db) => findAdapter(db, "a"));
  expect(present?.size).toBe(present?.files.reduce((sum, { size }) => sum + size, 0));
  writeFileSync(join(paths.adapters, "a", "README.md"), "altered");
  expect((await verifyAdapter(registry, before)).health).toBe("corrupt");
});

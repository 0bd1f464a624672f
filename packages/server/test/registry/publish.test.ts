import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { sql } from "kysely";
import { expect, onTestFinished, test } from "vitest";
import { cleanUp } from "../../src/clean-up.js";
import { findAdapter } from "../../src/registry/adapters.js";
import { glanceAtAdapter, verifyAdapter } from "../../src/registry/health.js";
import { type Lineage, publishAdapter } from "../../src/registry/publish.js";
import { CONFIG_FILE, WEIGHTS_FILE } from "../../src/registry/validate/folder.js";
import { openDatabase } from "../../src/storage/open.js";
import { dataPaths, ensureDataPaths } from "../../src/storage/paths.js";
import { inTransaction } from "../../src/storage/transaction.js";
import { makeFolder } from "../support/service.js";
import { makeAdapterFolder, rewrite } from "./validate/adapter-folder.js";

const open = () => {
  const paths = dataPaths(join(makeFolder(), "data"));
  ensureDataPaths(paths);
  const database = openDatabase({ path: paths.database });
  onTestFinished(() => database.destroy());
  return { paths, database };
};

const lineageOf = (adapter_id: string): Lineage => ({
  adapter_id,
  method: "lora",
  base_model: "test-model",
  task_type: "code-gen",
  session_id: "s1",
  session_ids: ["s1"],
  job_id: adapter_id.padEnd(26, "0"),
  metadata: {},
  created_at: "2026-01-01T00:00:00.000Z",
});

const stage = async (registry: ReturnType<typeof open>, adapterId: string) => {
  const folder = join(registry.paths.staging, adapterId, "adapter");
  const result = await makeAdapterFolder(folder, adapterId);
  const publish = (changes: object = {}) =>
    publishAdapter({ ...registry, folder, lineage: lineageOf(adapterId), result, keepHarmful: false, ...changes });
  return { folder, result, publish };
};

const find = ({ database }: ReturnType<typeof open>, adapterId: string) =>
  inTransaction(database, (session) => findAdapter(session, adapterId));

test("a published adapter is a row and a folder, and nothing is left in staging", async () => {
  const registry = open();
  const { publish, folder } = await stage(registry, "a1");
  const row = await publish();
  expect(await find(registry, "a1")).toEqual(row);
  expect(row.sha256).toBe(row.files.find(({ name }) => name === WEIGHTS_FILE)?.sha256);
  expect(existsSync(folder)).toBe(false);
  expect(await verifyAdapter(registry, row)).toMatchObject({ health: "ok" });
});

type Files = Awaited<ReturnType<typeof makeAdapterFolder>>["files"];
const changed =
  (change: object) =>
  ([first, ...others]: Files): Files => [{ ...first, ...change } as Files[number], ...others];
test.each<[string, (files: Files) => Files]>([
  ["another hash", changed({ sha256: "0".repeat(64) })],
  ["another size", changed({ size: 1 })],
  ["another name", changed({ name: "other.json" })],
  ["a file less", ([, ...others]) => others],
  ["a file more", (files) => [...files, ...changed({ name: "more.json" })(files.slice(0, 1))]],
])("files that differ from those reported, as in %s, are refused, and nothing is registered", async (_what, claim) => {
  const registry = open();
  const { publish, result } = await stage(registry, "a1");
  await expect(publish({ result: { ...result, files: claim(result.files) } })).rejects.toThrow("differ");
  expect(await find(registry, "a1")).toBeNull();
  expect(existsSync(join(registry.paths.adapters, "a1"))).toBe(false);
});

test("an adapter that names modules to import is refused although its hash is right", async () => {
  const registry = open();
  const { publish, folder, result } = await stage(registry, "a1");
  const evil = rewrite(folder, result, CONFIG_FILE, (content) =>
    JSON.stringify({ ...(JSON.parse(content.toString()) as object), auto_mapping: { parent_library: "os" } }),
  );
  await expect(publish({ result: evil })).rejects.toThrow("auto_mapping");
  expect(await find(registry, "a1")).toBeNull();
});

test("a row that cannot be committed takes its files with it", async () => {
  const registry = open();
  await sql`create trigger full before insert on adapters begin select raise(abort, 'no room'); end`.execute(registry.database);
  const { publish } = await stage(registry, "a1");
  await expect(publish()).rejects.toThrow("no room");
  expect(existsSync(join(registry.paths.adapters, "a1"))).toBe(false);
  expect(await find(registry, "a1")).toBeNull();
});

test("a cancel right before the commit wins", async () => {
  const registry = open();
  const { publish } = await stage(registry, "a1");
  const beforeCommit = () => {
    throw new Error("cancelled");
  };
  await expect(publish({ beforeCommit })).rejects.toThrow("cancelled");
  expect(existsSync(join(registry.paths.adapters, "a1"))).toBe(false);
  expect(await find(registry, "a1")).toBeNull();
});

test("a folder that stands there is never overwritten", async () => {
  const registry = open();
  const { publish } = await stage(registry, "a1");
  mkdirSync(join(registry.paths.adapters, "a1"));
  writeFileSync(join(registry.paths.adapters, "a1", "mine.txt"), "the user's");
  await expect(publish()).rejects.toThrow();
  expect(readdirSync(join(registry.paths.adapters, "a1"))).toEqual(["mine.txt"]);
});

test("the clean-up removes what is in staging, sets folders without a row aside, and keeps what is registered", async () => {
  const registry = open();
  const { paths } = registry;
  await (await stage(registry, "kept")).publish();
  await stage(registry, "half");
  mkdirSync(join(paths.adapters, "orphan"));
  writeFileSync(join(paths.adapters, "orphan", "x.txt"), "x");
  for (const id of ["kept", "gone"]) mkdirSync(join(paths.exports, id, "gguf"), { recursive: true });
  writeFileSync(join(paths.sessions, ".s.json.123.tmp"), "half");
  mkdirSync(join(paths.incoming, "import-1"));
  writeFileSync(join(paths.incoming, "import-1", "recording"), "half");
  const removed = await cleanUp(registry);
  expect(removed.leftovers).toEqual(["orphan"]);
  expect(removed.staging).toContain("half");
  expect(readdirSync(paths.staging)).toEqual([]);
  expect([readdirSync(paths.sessions), readdirSync(paths.incoming)]).toEqual([[], []]);
  expect(readdirSync(paths.adapters).sort()).toEqual([".evaluated", ".orphans", ".staging", "kept"]);
  expect(readdirSync(paths.exports)).toEqual(["kept"]);
  expect(readdirSync(paths.leftovers)).toEqual([expect.stringMatching(/^orphan\./)]);
});

test.each<[string, (folder: string) => void, "missing" | "corrupt", boolean]>([
  ["whose folder is gone", (folder) => rmSync(folder, { recursive: true }), "missing", true],
  ["that lost a file", (folder) => rmSync(join(folder, CONFIG_FILE)), "missing", true],
  ["whose weights are cut off", (folder) => writeFileSync(join(folder, WEIGHTS_FILE), "short"), "corrupt", true],
  [
    "with one altered byte",
    (folder) => void rewrite(folder, { files: [] } as never, WEIGHTS_FILE, (content) => content.fill(1, content.length - 1)),
    "corrupt",
    false,
  ],
  ["with a file more that is no adapter's", (folder) => writeFileSync(join(folder, "x.pkl"), "canary"), "corrupt", false],
])("an adapter %s is reported", async (_case, damage, health, atAGlance) => {
  const registry = open();
  const row = await (await stage(registry, "a1")).publish();
  damage(join(registry.paths.adapters, "a1"));
  expect((await verifyAdapter(registry, row)).health).toBe(health);
  if (atAGlance) expect((await glanceAtAdapter(registry, row)).health).toBe(health);
});

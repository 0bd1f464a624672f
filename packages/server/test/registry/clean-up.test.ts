import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { cleanUp } from "../../src/clean-up.js";
import { adapterIds, archiveAdapter, findAdapter } from "../../src/registry/adapters.js";
import { eraseAdapters } from "../../src/registry/clean-up.js";
import { publishAdapter } from "../../src/registry/publish.js";
import { openDatabase } from "../../src/storage/open.js";
import { dataPaths, ensureDataPaths } from "../../src/storage/paths.js";
import { inTransaction } from "../../src/storage/transaction.js";
import { makeFolder } from "../support/service.js";
import { makeAdapterFolder } from "./validate/adapter-folder.js";

class Killed extends Error {}

const at = "2026-01-01T00:00:00.000Z";

/** A registry with two adapters, both exported; of "erased" an earlier start has set a copy aside. */
const makeRegistry = async () => {
  const paths = dataPaths(join(makeFolder(), "data"));
  ensureDataPaths(paths);
  const database = openDatabase({ path: paths.database });
  onTestFinished(() => database.destroy());
  for (const adapter_id of ["erased", "kept"]) {
    const folder = join(paths.staging, adapter_id, "adapter");
    const result = await makeAdapterFolder(folder, adapter_id);
    const rest = { task_type: "code-gen", session_id: "s1", session_ids: ["s1"], metadata: {}, created_at: at };
    const job_id = adapter_id.padEnd(26, "0");
    const lineage = { adapter_id, method: "lora", base_model: "test-model", job_id, ...rest } as const;
    await publishAdapter({ database, paths, folder, result, lineage, keepHarmful: false });
    mkdirSync(join(paths.exports, adapter_id, "gguf"), { recursive: true });
    writeFileSync(join(paths.exports, adapter_id, "gguf", "export.json"), "{}");
  }
  mkdirSync(join(paths.leftovers, "erased.0123abcd"), { recursive: true });
  mkdirSync(join(paths.leftovers, "mine.0123abcd"), { recursive: true });
  return { paths, database };
};

/** What lies on the disk of an adapter, wherever it is. */
const tracesOf = ({ paths }: Awaited<ReturnType<typeof makeRegistry>>, adapterId: string): readonly string[] =>
  [paths.adapters, paths.exports, paths.leftovers].flatMap((folder) =>
    existsSync(folder) ? readdirSync(folder).filter((name) => name.startsWith(adapterId)) : [],
  );

/** Removes as `rm` does, until the process is killed before the n-th folder, or inside it, when its first file is gone. */
const killedBefore = (n: number, { inside }: { readonly inside: boolean }): typeof rm => {
  let calls = 0;
  return async (path, options) => {
    calls += 1;
    if (calls < n) return rm(path, options);
    const [first] = inside ? readdirSync(String(path)) : [];
    if (first) await rm(join(String(path), first), { recursive: true });
    throw new Killed();
  };
};

test.each(
  [1, 2, 3].flatMap((n) => [
    { n, inside: false },
    { n, inside: true },
  ]),
)("a purge that is killed at folder $n (inside it: $inside) is ended by the next start", async ({ n, inside }) => {
  const registry = await makeRegistry();
  const { paths, database } = registry;
  await inTransaction(database, (db) => archiveAdapter(db, { adapterId: "erased", at, purge: true }));
  await expect(eraseAdapters(paths, new Set(["erased"]), killedBefore(n, { inside }))).rejects.toThrow(Killed);
  expect(tracesOf(registry, "erased")).not.toEqual([]);

  await cleanUp(registry);
  expect(tracesOf(registry, "erased")).toEqual([]);
  expect(tracesOf(registry, "kept")).toEqual(["kept", "kept"]);
  expect(readdirSync(paths.leftovers)).toEqual(["mine.0123abcd"]);
  expect((await inTransaction(database, adapterIds)).purged).toEqual(new Set(["erased"]));
});

test("a purge that is killed before its row is committed erases nothing", async () => {
  const registry = await makeRegistry();
  const killed = inTransaction(registry.database, async (db) => {
    await archiveAdapter(db, { adapterId: "erased", at, purge: true });
    throw new Killed();
  });
  await expect(killed).rejects.toThrow(Killed);
  await cleanUp(registry);
  expect(tracesOf(registry, "erased")).toHaveLength(3);
  expect(await inTransaction(registry.database, (db) => findAdapter(db, "erased"))).not.toBeNull();
});

test("what a crash left half-made is removed, and a whole adapter without a row is set aside", async () => {
  const { paths, database } = await makeRegistry();
  await makeAdapterFolder(join(paths.staging, "half", "adapter"), "half");
  await makeAdapterFolder(join(paths.adapters, "whole"), "whole");
  await cleanUp({ paths, database });
  expect(readdirSync(paths.staging)).toEqual([]);
  expect(readdirSync(paths.adapters)).not.toContain("whole");
  const [aside = ""] = readdirSync(paths.leftovers).filter((name) => name.startsWith("whole."));
  expect(readdirSync(join(paths.leftovers, aside))).toContain("adapter_model.safetensors");
});

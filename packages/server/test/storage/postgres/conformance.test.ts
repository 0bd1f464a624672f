import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { publishAdapter } from "../../../src/registry/publish.js";
import { OutcomeUnknownError } from "../../../src/storage/outcome-unknown.js";
import { dataPaths, ensureDataPaths } from "../../../src/storage/paths.js";
import { openPostgres } from "../../../src/storage/postgres/open.js";
import { makeAdapterFolder } from "../../registry/validate/adapter-folder.js";
import { useCluster } from "../../support/postgres.js";
import { makeFolder } from "../../support/service.js";
import { conformance } from "../conformance.js";
import { adapterRow } from "../rows.js";

const cluster = useCluster();

conformance("Postgres", async () => {
  const url = await cluster().create();
  return { open: async (migrations) => (await openPostgres({ url, ...(migrations && { migrations }) })).database };
});

test("an adapter whose commit is cut off keeps its files: its row may be there", async () => {
  const url = await cluster().create();
  const { database } = await openPostgres({ url });
  onTestFinished(() => database.destroy());
  const paths = dataPaths(makeFolder());
  ensureDataPaths(paths);
  const folder = join(paths.staging, "a-1");
  const result = await makeAdapterFolder(folder, "a-1");
  const { size: _size, sha256: _sha, files: _files, ...row } = adapterRow("a-1");
  const cut = `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${new URL(url).pathname.slice(1)}'`;
  const publishing = publishAdapter({
    ...{ database, paths, folder, result, lineage: row, keepHarmful: true },
    beforeCommit: async () => void (await cluster().query(cut)),
  });
  await expect(publishing).rejects.toBeInstanceOf(OutcomeUnknownError);
  await expect(publishing).rejects.toThrow(/is not known/);
  expect(existsSync(join(paths.adapters, "a-1", "adapter_config.json"))).toBe(true);
});

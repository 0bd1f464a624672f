import { readdir, readFile, stat, writeFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { beforeAll, expect, it, vi } from "vitest";
import { build } from "./support/build.js";
import { imprint } from "./support/imprint.js";
import { place } from "./support/service.js";

vi.setConfig({ testTimeout: 60_000 });
beforeAll(build, 120_000);

interface Coverage {
  readonly result: readonly { readonly url: string }[];
}

/** Sizes in bytes of the JavaScript files that a command loads: V8 names each of them in its coverage report. */
async function loadedBy(args: readonly string[]): Promise<readonly number[]> {
  const { root } = await place();
  // A data directory that cannot be served: `serve` loads the service, and ends.
  await writeFile(path.join(root, "adapters"), "in the way");
  const folder = path.join(root, "coverage");
  await imprint(args, { env: { NODE_V8_COVERAGE: folder, IMPRINT_DATA_DIR: root, IMPRINT_PORT: "0" } });
  const reports = await Promise.all((await readdir(folder)).map((name) => readFile(path.join(folder, name), "utf8")));
  const scripts = reports.flatMap((text) => (JSON.parse(text) as Coverage).result.map(({ url }) => url));
  const files = scripts.filter((url) => url.startsWith("file:"));
  return Promise.all(files.map(async (url) => (await stat(fileURLToPath(url))).size));
}

const bytes = (sizes: readonly number[]): number => sizes.reduce((sum, size) => sum + size, 0);

it("a command loads what it needs: the help and the version no schema, a client of a running service no service", async () => {
  const loaded = await Promise.all([["serve"], ["--help"], ["--version"], ["jobs", "--url", "http://127.0.0.1:1"]].map(loadedBy));
  const [serve = 0, help = 0, version = 0, jobs = 0] = loaded.map(bytes);
  // Files cost more than bytes: unbundled, the service has 1,300.
  expect(loaded[0]?.length).toBeLessThan(60);
  expect(jobs).toBeLessThan(serve / 2);
  expect(Math.max(help, version)).toBeLessThan(jobs / 2);
});

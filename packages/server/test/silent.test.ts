import { join } from "node:path";
import type { Adapter, JobDetails } from "@imprint/contracts";
import { beforeAll, expect, test, vi } from "vitest";
import { build, startProcess } from "./support/process.js";
import { makeFolder } from "./support/service.js";
import { putSession } from "./support/session.js";

beforeAll(build, 120_000);

test("a healthy service logs nothing: a training, an export, every page and file of an adapter, and the API's documentation", async () => {
  const folder = makeFolder();
  putSession(join(folder, "data"), "s");
  const service = await startProcess(folder, { env: { IMPRINT_LOG_LEVEL: "" } });
  const ended = async (jobId: string): Promise<void> => {
    await vi.waitFor(
      async () => {
        const job = (await (await service.fetch(`/jobs/${jobId}`)).json()) as JobDetails;
        expect(job.status).toBe("completed");
      },
      { timeout: 20_000, interval: 20 },
    );
  };
  await ended(await service.start({ session_id: "s", adapter_id: "a" }));
  const headers = { "content-type": "application/json" };
  const body = JSON.stringify({ format: "gguf" });
  const exported = await service.fetch("/adapters/a/export", { method: "POST", headers, body });
  await ended(((await exported.json()) as { job_id: string }).job_id);

  const adapter = (await (await service.fetch("/adapters/a")).json()) as Adapter;
  const { files } = (await (await service.fetch("/adapters/a/exports/gguf")).json()) as Pick<Adapter, "files">;
  const paths = [
    ...adapter.files.map(({ name }) => `/adapters/a/files/${name}`),
    ...files.map(({ name }) => `/adapters/a/exports/gguf/files/${name}`),
    ...["/docs", "/docs/", "/docs/start.js", "/docs/swagger-ui.css", "/docs/swagger-ui-bundle.js", "/openapi.json", "/"],
  ];
  for (const path of paths) {
    const response = await service.fetch(path);
    await response.arrayBuffer();
    expect([path, response.status]).toEqual([path, 200]);
  }
  const page = await (await service.fetch("/docs")).text();
  // A page without an icon of its own has browsers ask for /favicon.ico.
  expect(page).toContain('<link rel="icon" href="data:,">');
  for (const init of [{ headers: { range: "bytes=0-9" } }, { method: "HEAD" }, { headers: { "if-none-match": "*" } }])
    await (await service.fetch(paths[0] ?? "", init)).arrayBuffer();
  expect((await service.fetch("/adapters/a/evaluation")).status).toBe(404);
  expect(service.logged()).toEqual([]);
}, 60_000);

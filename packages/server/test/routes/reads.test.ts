import { createHash } from "node:crypto";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type Service, startLora, startService } from "../support/service.js";
import { putSession } from "../support/session.js";

/** Every path of the data directory with a hash of its content, the database's bookkeeping of readers aside. */
const contentOf = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((path) => !path.endsWith("-shm") && !statSync(join(folder, path)).isDirectory())
    .sort()
    .map(
      (path) =>
        `${path} ${createHash("sha256")
          .update(readFileSync(join(folder, path)))
          .digest("hex")}`,
    );

const pathsOf = async (service: Service): Promise<readonly string[]> =>
  Object.entries((await service.get("/openapi.json")).json<{ paths: Record<string, object> }>().paths)
    .filter(([, methods]) => "get" in methods)
    .map(([path]) => path);

test("no GET changes anything: not the registry, not a file, not a job", async () => {
  const service = await startService();
  putSession(service.dataDir, "s1");
  putSession(service.dataDir, "s2");
  putSession(service.dataDir, "torn", "{");
  const job_id = await startLora(service, { session_id: "s1", adapter_id: "a1" });
  await service.ended(job_id);
  const evaluating = await service.post("/adapters/a1/evaluate", { session_ids: ["s2"] });
  await service.ended(evaluating.json().job_id);
  const tasks = [{ name: "one", sha256: "0".repeat(64), family: null, prompt: "Fix it.", session_id: null }];
  const payload = { agent: "mini-swe-agent", control_adapter_id: null, seeds: 1, tasks, runs: [] };
  expect((await service.call({ method: "PUT", url: "/adapters/a1/tasks", payload })).statusCode).toBe(200);
  const before = [contentOf(service.dataDir), service.jobs.counts(), service.jobs.list({ limit: 10 })];
  const paths = await pathsOf(service);
  expect(paths.length).toBeGreaterThan(8);
  for (const path of [...paths, "/docs"]) {
    const url = path
      .replace("{job_id}", job_id)
      .replace("{session_id}", "s1")
      .replace("{adapter_id}", "a1")
      .replace("/files/{name}", "/files/README.md");
    const response = await fetch(`${service.url}${url}`);
    // Of uploads, fine-tunes, exports and projects there are none: what is left of the pattern names nothing.
    expect(response.status, url).toBe(url.includes("{") ? 404 : 200);
    // The stream of all jobs has no end.
    await (url === "/jobs/events" ? response.body?.cancel() : response.arrayBuffer());
  }
  expect([contentOf(service.dataDir), service.jobs.counts(), service.jobs.list({ limit: 10 })]).toEqual(before);
});

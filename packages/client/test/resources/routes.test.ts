import { Readable } from "node:stream";
import { expect, it } from "vitest";
import type { Imprint } from "../../src/index.js";
import { service } from "../support/service.js";

const messages = [{ role: "user", content: "hi" }] as const;

const calls: readonly [string, (client: Imprint) => Promise<unknown>, string][] = [
  ["POST /train/lora", (c) => c.train.lora({ session_id: "s", epochs: 2 }), '{"session_id":"s","epochs":2}'],
  ["POST /train/sweep", (c) => c.train.sweep({ session_id: "s", rank: [4, 8] }), '{"session_id":"s","rank":[4,8]}'],
  ["POST /train/hypernetwork", (c) => c.train.hypernetwork({ trajectory_ids: ["s"] }), '{"trajectory_ids":["s"]}'],
  ["GET /jobs/01", (c) => c.jobs.get("01"), ""],
  ["GET /jobs/01/details", (c) => c.jobs.details("01"), ""],
  ["GET /jobs?status=failed&limit=5&after=00", (c) => c.jobs.list({ status: "failed", limit: 5, after: "00" }), ""],
  ["POST /jobs/01/cancel", (c) => c.jobs.cancel("01"), ""],
  ["POST /jobs/01/salvage", (c) => c.jobs.salvage("01", { adapter_id: "a" }), '{"adapter_id":"a"}'],
  ["POST /jobs/01/salvage", (c) => c.jobs.salvage("01"), "{}"],
  ["POST /train/lora", (c) => c.train.lora({ resume_from: "01" }), '{"resume_from":"01"}'],
  ["POST /sessions?format=codex", (c) => c.sessions.create("{}\n{}\n", { format: "codex" }), "{}\n{}\n"],
  ["POST /sessions?outcome=success", (c) => c.sessions.create("{}\n{}\n", { outcome: "success" }), "{}\n{}\n"],
  ["PATCH /sessions/s", (c) => c.sessions.label("s", "failure"), '{"outcome":"failure"}'],
  ["POST /train/lora/preview", (c) => c.train.preview({ session_ids: ["s", "t"] }), '{"session_ids":["s","t"]}'],
  ["GET /sessions", (c) => c.sessions.list(), ""],
  ["GET /sessions?search=gate+ports", (c) => c.sessions.list({ search: "gate ports" }), ""],
  ["GET /sessions/a%2Fb", (c) => c.sessions.get("a/b"), ""],
  ["DELETE /sessions/s", (c) => c.sessions.delete("s"), ""],
  ["POST /sessions/s/preview", (c) => c.sessions.preview("s", { max_length: 64 }), '{"max_length":64}'],
  ["GET /adapters?task_type=code-gen", (c) => c.adapters.list({ task_type: "code-gen" }), ""],
  ["GET /adapters/a", (c) => c.adapters.get("a"), ""],
  ["GET /adapters/a/files/README.md", (c) => c.adapters.file("a", "README.md"), ""],
  ["POST /adapters/a/verify", (c) => c.adapters.verify("a"), ""],
  ["POST /adapters/a/export", (c) => c.adapters.export("a", "gguf"), '{"format":"gguf"}'],
  ["GET /adapters/a/exports/merged", (c) => c.adapters.getExport("a", "merged"), ""],
  ["GET /adapters/a/exports/gguf/files/b%20c", (c) => c.adapters.exportFile("a", "gguf", "b c"), ""],
  ["POST /adapters/a/evaluate", (c) => c.adapters.evaluate("a"), "{}"],
  ["POST /adapters/a/evaluate", (c) => c.adapters.evaluate("a", { actions: 0 }), '{"actions":0}'],
  ["GET /adapters/a/evaluation", (c) => c.adapters.evaluation("a"), ""],
  ["DELETE /adapters/a", (c) => c.adapters.delete("a"), ""],
  ["DELETE /adapters/a?purge=true", (c) => c.adapters.delete("a", { purge: true }), ""],
  ["GET /adapters/shop%40latest", (c) => c.adapters.get("shop@latest"), ""],
  ["GET /projects", (c) => c.projects.list(), ""],
  ["GET /projects/shop", (c) => c.projects.get("shop"), ""],
  ["DELETE /projects/shop", (c) => c.projects.delete("shop"), ""],
  ["POST /projects/shop/runs", (c) => c.projects.run("shop"), "{}"],
  ["POST /projects/shop/runs", (c) => c.projects.run("shop", { session_ids: ["s"] }), '{"session_ids":["s"]}'],
  ["POST /projects/shop/rollback", (c) => c.projects.rollback("shop", { run: 2 }), '{"run":2}'],
  ["GET /v1/models", (c) => c.models.list(), ""],
  ["GET /models", (c) => c.models.bases(), ""],
  ["POST /models", (c) => c.models.pull("me/tiny"), '{"name":"me/tiny"}'],
  ["DELETE /models/me%2Ftiny", (c) => c.models.delete("me/tiny"), ""],
  [
    "POST /v1/chat/completions",
    (c) => c.chat.completions.create({ model: "a", messages }),
    JSON.stringify({ model: "a", messages }),
  ],
];

it.each(calls)("%s", async (route, call, body) => {
  const { client, seen } = await service([{ status: 200, body: {} }]);
  await call(client);
  expect(`${seen[0]?.method} ${seen[0]?.url}`).toBe(route);
  expect(seen[0]?.body).toBe(body);
});

it.each([
  ['{"a": 1}', "application/json"],
  ['{"a": 1}\n{"a": 2}\n', "application/x-ndjson"],
  ['\n{"a": 1}\n{"a": 2}\n', "application/x-ndjson"],
  ['{"a": 1}\n', "application/json"],
  ['{\n  "a": 1\n}\n', "application/json"],
  ["# aider chat started at 2026-01-01", "text/markdown"],
  [new Uint8Array([0x28, 0xb5, 0x2f, 0xfd, 0]), "application/zstd"],
  [new TextEncoder().encode("[1]"), "application/json"],
  [new Blob(['{"a": 1}\n', '{"a": 2}\n']), "application/x-ndjson"],
  [new Blob([new Uint8Array([0x28, 0xb5, 0x2f, 0xfd, 0])]), "application/zstd"],
  [() => Readable.from([Buffer.from('{"a": 1}\n{"a"'), Buffer.from(": 2}\n")]), "application/x-ndjson"],
  [() => Readable.from([]), "text/markdown"],
])("a session is sent as what its content is", async (file, type) => {
  const { client, seen } = await service([{ status: 201, body: {} }]);
  await client.sessions.create(file);
  expect(seen[0]?.headers["content-type"]).toBe(type);
});

it.each([
  [201, true],
  [200, false],
])("a stored session answered with %i has created: %s", async (status, created) => {
  const { client } = await service([{ status, body: { session_id: "s" } }]);
  await expect(client.sessions.create("{}")).resolves.toEqual({ session_id: "s", created });
});

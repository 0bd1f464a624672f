import { readFile } from "node:fs/promises";
import path from "node:path";
import { beforeAll, expect, it, vi } from "vitest";
import { build } from "../support/build.js";
import { imprint, start } from "../support/imprint.js";
import { place, servedPlace } from "../support/service.js";

vi.setConfig({ testTimeout: 60_000 });
beforeAll(build, 120_000);

it("serves until a signal, other commands find it, and it leaves nothing behind", async () => {
  const at = await place();
  const serving = start(["serve", "--port", "0", "--log-level", "silent"], at.env);
  await serving.said("Imprint is running.");
  const { url } = JSON.parse(await readFile(path.join(at.dataDir, "server.json"), "utf8"));
  await serving.said(url);
  const { code, stderr } = await imprint(["jobs"], at);
  expect([code, stderr]).toEqual([0, ""]);
  expect(
    (await imprint(["jobs", "--url", url], { env: { ...at.env, IMPRINT_DATA_DIR: path.join(at.root, "other") } })).code,
  ).toBe(0);
  serving.child.kill("SIGTERM");
  expect((await serving.ended).code).toBe(0);
  await expect(readFile(path.join(at.dataDir, "server.json"))).rejects.toThrow("ENOENT");
});

it("refuses a data directory that is served already", async () => {
  const at = await servedPlace();
  const { code, stderr } = await imprint(["serve", "--port", "0"], at);
  expect(code).toBe(1);
  expect(stderr).toContain(`A service already runs on ${at.dataDir}: ${at.server.url}`);
});

it("ends at a second signal whatever keeps it", async () => {
  const { env } = await place();
  const kept = { ...env, NODE_OPTIONS: "--import=data:text/javascript,setInterval(()=>{},1e6)" };
  const serving = start(["serve", "--port", "0", "--log-level", "silent"], kept);
  await serving.said("Imprint is running.");
  serving.child.kill("SIGTERM");
  serving.child.kill("SIGINT");
  expect((await serving.ended).code).toBe(0);
});

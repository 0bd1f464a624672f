import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { beforeAll, expect, it, vi } from "vitest";
import { build } from "../support/build.js";
import { imprint, start } from "../support/imprint.js";
import { EXAMPLES, place, serve, servedPlace } from "../support/service.js";

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

it("after a stop commands say what waited and what can go on, and start the one again", async () => {
  let gate = "";
  const at = await servedPlace((root) => {
    gate = path.join(root, "go");
    return { wait_for: gate, checkpoint: true };
  });
  await imprint(["import", path.join(EXAMPLES, "harborline-gates.json")], at);
  const train = async (id: string): Promise<string> =>
    JSON.parse((await imprint(["train", "harborline-gates", "--adapter-id", id, "--json"], at)).stdout).job_id;
  const lost = await train("begun");
  const watching = start(["job", lost, "--watch"], at.env);
  await watching.said("step 1/3");
  await train("waits");
  await at.server.close(0);
  const goOn = [`npx imprint train --resume ${lost}`, `npx imprint salvage ${lost}`];
  const doctor = await imprint(["doctor"], at);
  expect(doctor.stdout).toContain(`can go on: ${lost}`);

  await writeFile(gate, "");
  const server = await serve(at);
  const { stderr } = await imprint(["jobs"], at);
  expect(stderr).toContain("1 job waited when the service stopped: npx imprint jobs --resubmit starts them.");
  for (const command of goOn) expect(stderr).toContain(command);
  const job = await imprint(["job", lost], at);
  expect(job.code).toBe(1);
  for (const command of goOn) expect(job.stderr).toContain(command);
  expect((await imprint(["job", "0".repeat(26)], at)).stderr).not.toContain("--resume");

  const again = await imprint(["jobs", "--resubmit"], at);
  expect([again.code, again.stdout]).toEqual([0, `1 job started again at ${server.url}.\n`]);
  expect((await imprint(["job", "latest", "--watch"], at)).stdout).toContain("waits is ready");
  expect((await imprint(["jobs"], at)).stderr).not.toContain("--resubmit");
});

import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { beforeAll, expect, it, vi } from "vitest";
import { startFake } from "../../../server/test/chat/upstream/fake.js";
import { build } from "../support/build.js";
import { imprint } from "../support/imprint.js";
import { EXAMPLES, place, serve } from "../support/service.js";

vi.setConfig({ testTimeout: 120_000 });
beforeAll(build, 120_000);

it("an adapter that an upstream drops is told where it is launched, on its record and by doctor", async () => {
  const at = await place();
  const upstream = await startFake({ model: "tiny-model", applied: 0 });
  const env = { ...at.env, IMPRINT_UPSTREAM: upstream.url, PATH: path.join(at.root, "bin") };
  await mkdir(env.PATH);
  await writeFile(path.join(env.PATH, "aider"), "#!/bin/sh\n", { mode: 0o755 });
  await serve({ ...at, env });
  const session = path.join(EXAMPLES, "harborline-gates.json");
  expect((await imprint(["import", session], { env })).code).toBe(0);
  expect((await imprint(["train", "latest", "--adapter-id", "mine", "--watch"], { env })).code).toBe(0);
  const dropped = await imprint(["launch", "aider", "mine"], { env });
  expect(dropped.code).toBe(0);
  expect(dropped.stderr).toMatch(/^ADAPTER_NOT_APPLIED: vllm at \S+ does not apply .* This machine answers instead\./m);
  expect((await imprint(["adapter", "mine"], { env })).stdout).toMatch(/served by +vllm at \S+: not applied, .*measured/);
  const doctor = await imprint(["doctor"], { env });
  expect(doctor.stdout).toMatch(/! served +ADAPTER_NOT_APPLIED: mine by vllm at/);

  upstream.change({ applied: 1 });
  expect((await imprint(["launch", "aider", "mine"], { env })).stderr).toMatch(/^served by vllm at \S+: applied, 0\.000 nats/m);
  expect((await imprint(["doctor"], { env })).stdout).toMatch(/✓ served +mine by vllm at \S+: applied/);
});

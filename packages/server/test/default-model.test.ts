import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createClient, type Imprint } from "@imprint/client";
import { expect, onTestFinished, test, vi } from "vitest";
import { loadConfig } from "../src/config/load.js";
import { findRepoRoot, readSetup } from "../src/config/setup.js";
import { startServer } from "../src/server.js";
import { gone, workerPid } from "./support/process.js";
import { makeFolder } from "./support/service.js";

const ROOT = findRepoRoot();
const MINUTES = 60_000;

/** The service as a user runs it: the Python environment and the default model that the set-up prepared. */
const startReal = async (): Promise<{ client: Imprint; folder: string; files: (adapterId: string) => Buffer }> => {
  const setup = readSetup(ROOT);
  if (setup === null) throw new Error("run npm run setup first: this test trains the default model");
  const folder = makeFolder();
  const python = join(folder, "python");
  writeFileSync(python, `#!/bin/sh\necho $$ > "${folder}/worker.pid"\nexec "${setup.python}" "$@"\n`);
  chmodSync(python, 0o755);
  const dataDir = join(folder, "data");
  const server = await startServer(loadConfig({ flags: { data_dir: dataDir, port: 0, python, log_level: "silent" } }));
  onTestFinished(() => server.close());
  return {
    client: createClient({ baseUrl: server.url }),
    folder,
    files: (adapterId) => readFileSync(join(dataDir, "adapters", adapterId, "adapter_model.safetensors")),
  };
};

const wait = { timeoutMs: 10 * MINUTES };

test("a recorded session becomes an adapter that has learned it, on the default model", { timeout: 12 * MINUTES }, async () => {
  const { client } = await startReal();
  const { session_id } = await client.sessions.create(readFileSync(join(ROOT, "examples/sessions/harborline-gates.json")));
  const preview = await client.sessions.preview(session_id, {});

  const { job_id } = await client.train.lora({ session_id, seed: 7 });
  const job = await client.jobs.waitFor(job_id, wait);

  expect(job.error).toBeUndefined();
  expect(job.status).toBe("completed");
  const { plan, proof } = await client.jobs.details(job_id);
  if (plan === null || proof === null) throw new Error("a completed job has a plan and a proof");
  const { windows, tokens, supervised_tokens } = preview;
  expect({ windows, tokens, supervised_tokens }).toEqual({
    windows: plan.windows,
    tokens: plan.tokens,
    supervised_tokens: plan.supervised_tokens,
  });
  expect(proof.loss_after).toBeLessThan(0.4 * proof.loss_before);
  expect(proof.neutral_loss_after).toBeLessThan(1.05 * proof.neutral_loss_before);
  expect(proof.keys_matched).toBe(proof.keys_expected);
  expect(proof.accepted_by).toEqual({ peft: true, vllm: true, llama_cpp: true });
});

test("the same request and seed give the same bytes, and a killed trainer fails one job alone", {
  timeout: 12 * MINUTES,
}, async () => {
  const { client, folder, files } = await startReal();
  const { session_id } = await client.sessions.create(readFileSync(join(ROOT, "examples/sessions/harborline-gates.json")));
  const train = async (adapter_id: string): Promise<string> =>
    (await client.train.lora({ session_id, adapter_id, seed: 1, epochs: 1, rank: 4 })).job_id;

  const first = await client.jobs.waitFor(await train("one"), wait);
  expect(first.status).toBe("completed");

  const killed = await train("killed");
  await vi.waitFor(async () => expect((await client.jobs.details(killed)).phase).toBe("training"), { timeout: 2 * MINUTES });
  const pid = workerPid(folder) ?? 0;
  process.kill(pid, "SIGKILL");
  const failed = await client.jobs.waitFor(killed, wait);
  expect(failed).toMatchObject({ status: "failed", adapter_id: null });
  expect((await client.jobs.details(killed)).error?.code).toBe("WORKER_CRASHED");
  await gone(pid);

  const second = await client.jobs.waitFor(await train("two"), wait);
  expect(second.status).toBe("completed");
  expect(files("two").equals(files("one"))).toBe(true);
  const { adapters } = await client.adapters.list();
  expect(adapters.map(({ adapter_id }) => adapter_id).toSorted()).toEqual(["one", "two"]);
});

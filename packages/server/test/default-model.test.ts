import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createClient, type Imprint } from "@imprint/client";
import { expect, onTestFinished, test } from "vitest";
import { loadConfig } from "../src/config/load.js";
import { findRepoRoot, readSetup } from "../src/config/setup.js";
import { startServer } from "../src/server.js";
import { makeFolder } from "./support/service.js";

const ROOT = findRepoRoot();
const MINUTES = 60_000;

/** The service as a user runs it: the Python environment and the default model that the set-up prepared. */
const startReal = async (): Promise<Imprint> => {
  if (readSetup(ROOT) === null) throw new Error("run npm run setup first: this test trains the default model");
  const server = await startServer(loadConfig({ flags: { data_dir: makeFolder(), port: 0, log_level: "silent" } }));
  onTestFinished(() => server.close());
  return createClient({ baseUrl: server.url });
};

const wait = { timeoutMs: 10 * MINUTES };

test("a recorded session becomes an adapter that has learned it, on the default model", { timeout: 12 * MINUTES }, async () => {
  const client = await startReal();
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

import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createClient, type Imprint } from "@imprint/client";
import type { ChatCompletion } from "@imprint/contracts";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { loadConfig } from "../src/config/load.js";
import { findRepoRoot } from "../src/config/setup.js";
import { startServer } from "../src/server.js";
import { prepared } from "./support/prepared.js";
import { build, gone, startProcess, workerPid } from "./support/process.js";
import { makeFolder } from "./support/service.js";
import { putSession } from "./support/session.js";

const ROOT = findRepoRoot();
const MINUTES = 60_000;

beforeAll(build, 2 * MINUTES);

const wait = { timeoutMs: 10 * MINUTES };

describe("the service as a user runs it, on the Python environment and the default model that the set-up prepared", () => {
  let url = "";
  let close = async (): Promise<void> => {};
  let client: Imprint;

  const data_dir = mkdtempSync(join(tmpdir(), "imprint-default-model-"));

  beforeAll(async () => {
    prepared();
    ({ url, close } = await startServer(loadConfig({ flags: { data_dir, port: 0, log_level: "silent" } })));
    client = createClient({ baseUrl: url });
  }, MINUTES);
  afterAll(async () => {
    await close();
    rmSync(data_dir, { recursive: true, force: true });
  }, MINUTES);

  /** The demo's recording, or the last of its attempts alone. */
  const stored = async (attempts: number): Promise<string> => {
    const { steps, ...recording } = JSON.parse(readFileSync(join(ROOT, "examples/sessions/harborline-gates.json"), "utf8"));
    const session = { ...recording, session_id: `gates-${attempts}`, steps: steps.slice(-attempts) };
    return (await client.sessions.create(JSON.stringify(session))).session_id;
  };

  test("a recorded session becomes an adapter that has learned it", { timeout: 12 * MINUTES }, async () => {
    const session_id = await stored(1);
    const preview = await client.sessions.preview(session_id, {});

    // Fewer passes than it would take by itself, of one attempt: npm run demo shows the whole.
    const { job_id } = await client.train.lora({ session_id, seed: 7, epochs: 6 });
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

  test("an imprint of a whole session makes it likelier, and other text stays", { timeout: 12 * MINUTES }, async () => {
    const session_id = await stored(3);
    const { job_id } = await client.train.hypernetwork({ trajectory_ids: [session_id], seed: 7 });
    expect(await client.jobs.waitFor(job_id, wait)).toMatchObject({ status: "completed" });
    const { proof } = await client.jobs.details(job_id);
    if (!proof?.imprint?.calibration) throw new Error("a calibrated imprint has a proof");
    const { scale, calibration } = proof.imprint;
    expect(calibration.tried.map((tried) => tried.scale)).toContain(scale);
    expect(proof.loss_after).toBeLessThan(0.7 * proof.loss_before);
    expect(proof.neutral_loss_after).toBeLessThan(1.035 * proof.neutral_loss_before);
  });

  test("a recorded conversation is previewed with as many tokens before its last answer as the model was given", {
    timeout: 4 * MINUTES,
  }, async () => {
    const parameters = { type: "object", properties: { command: { type: "string" } } };
    const messages: object[] = [
      { role: "system", content: "Answer in one short sentence." },
      { role: "user", content: "What is the capital of France?" },
    ];
    const ask = async (): Promise<ChatCompletion> => {
      const tools = [{ type: "function", function: { name: "bash", description: "Runs a command.", parameters } }];
      const body = { model: prepared().default_model, messages, tools, stop: [".", "\n"], max_tokens: 64 };
      const headers = { "content-type": "application/json", "x-imprint-record": "1" };
      const init = { method: "POST", headers, body: JSON.stringify(body) };
      return (await fetch(`${url}/v1/chat/completions`, init)).json() as Promise<ChatCompletion>;
    };
    const [first] = (await ask()).choices;
    if (first === undefined) throw new Error("there is an answer");
    messages.push(first.message, { role: "user", content: "And of Italy?" });
    const second = await ask();
    expect([first.finish_reason, second.choices[0]?.finish_reason]).toEqual(["stop", "stop"]);
    const recorded = async () => (await client.sessions.list()).sessions.filter(({ format }) => format === "gateway");
    await vi.waitFor(async () => expect(await recorded()).toMatchObject([{ format: "gateway", assistant_turns: 2 }]));
    const [session] = await recorded();
    const text = (await client.sessions.preview(session?.session_id ?? "", {})).text.flat();
    const last = text.findLastIndex(({ supervised }) => supervised);
    const before = text.slice(0, last).reduce((sum, { tokens }) => sum + tokens, 0);
    expect(before).toBe(second.usage.prompt_tokens);
    expect(readdirSync(join(data_dir, "gguf"))).toEqual([]); // llama.cpp's file lies beside the weights
  });
});

test("killed in mid-training, the trainer and the service leave nothing half; the same request gives the same bytes, with a chat beside it too", {
  timeout: 12 * MINUTES,
}, async () => {
  const { python, default_model } = prepared();
  const folder = makeFolder();
  const adapters = join(folder, "data", "adapters");
  const start = async () => {
    const service = await startProcess(folder, { python, env: { IMPRINT_BASE_MODEL: default_model } });
    return { service, client: createClient({ baseUrl: service.url }) };
  };
  const request = { session_id: "short", seed: 7, epochs: 1, rank: 4 };
  /** The trainer's process, once it trains: with this many epochs it would go on for minutes. */
  const midTraining = async (client: Imprint, adapter_id: string) => {
    const { job_id } = await client.train.lora({ ...request, epochs: 100, adapter_id });
    const inTraining = async () => expect((await client.jobs.details(job_id)).progress).not.toBeNull();
    await vi.waitFor(inTraining, { timeout: 5 * MINUTES, interval: 50 });
    return { job_id, pid: workerPid(folder) ?? 0 };
  };
  const chatOf = async (url: string): Promise<ChatCompletion> => {
    const body = { model: default_model, messages: [{ role: "user", content: "What is a harbour?" }], max_tokens: 8 };
    const headers = { "content-type": "application/json" };
    return (await (
      await fetch(`${url}/v1/chat/completions`, { method: "POST", headers, body: JSON.stringify(body) })
    ).json()) as ChatCompletion;
  };
  const listed = async (client: Imprint) => (await client.adapters.list()).adapters.map(({ adapter_id }) => adapter_id);

  const first = await start();
  putSession(join(folder, "data"), "short");
  const killed = await midTraining(first.client, "killed");
  process.kill(killed.pid, "SIGKILL");
  expect(await first.client.jobs.waitFor(killed.job_id, wait)).toMatchObject({ status: "failed", adapter_id: null });
  expect((await first.client.jobs.details(killed.job_id)).error).toMatchObject({
    code: "WORKER_CRASHED",
    message: expect.stringContaining("SIGKILL"),
  });
  expect(await listed(first.client)).toEqual([]);

  for (const adapter_id of ["one", "two"]) {
    const { job_id } = await first.client.train.lora({ ...request, adapter_id });
    const chat = adapter_id === "two" ? chatOf(first.service.url) : null;
    expect(await first.client.jobs.waitFor(job_id, wait)).toMatchObject({ status: "completed", adapter_id });
    if (chat !== null) expect((await chat).choices).toHaveLength(1);
  }
  const weightsOf = (adapter: string) => readFileSync(join(adapters, adapter, "adapter_model.safetensors"));
  expect(weightsOf("one").equals(weightsOf("two"))).toBe(true);

  const lost = await midTraining(first.client, "lost");
  first.service.child.kill("SIGKILL");
  await first.service.ended;
  await gone(lost.pid);
  const second = await start();
  expect((await listed(second.client)).sort()).toEqual(["one", "two"]);
  expect(await second.client.adapters.get("one")).toMatchObject({ health: "ok" });
  expect(readdirSync(join(adapters, ".staging"))).toEqual([]);
  expect(readdirSync(adapters).filter((name) => !name.startsWith("."))).toEqual(["one", "two"]);
});

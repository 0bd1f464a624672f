import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { ServedBy } from "@imprint/contracts";
import { expect, onTestFinished, test, vi } from "vitest";
import { createProve } from "../../../src/chat/applied.js";
import { createTrainerEngine } from "../../../src/chat/engine.js";
import { createProveLoaded } from "../../../src/chat/llama-cpp/applied.js";
import { createLlamaCppEngine } from "../../../src/chat/llama-cpp/engine.js";
import { createGgufFiles } from "../../../src/chat/llama-cpp/gguf-files.js";
import { createLlamaProcess } from "../../../src/chat/llama-cpp/process.js";
import { createPreparing } from "../../../src/chat/preparing.js";
import type { ChatEvent } from "../../../src/runners/runner.js";
import { quietLog } from "../../common/quiet-log.js";
import { goodProof } from "../../fixtures/workers/support/adapter.mjs";
import { chatCall, runnerOn, temporaryFolder, userSays, workerPath } from "../../runners/support.js";

const here = (name: string): string => fileURLToPath(new URL(name, import.meta.url));

const start = () => {
  const folder = temporaryFolder();
  const [made, exports] = [join(folder, "gguf"), join(folder, "exports")];
  mkdirSync(made);
  const library = here("library.mjs");
  const llama = createLlamaProcess({ library, program: here("../../../dist/chat/llama-cpp/llama-process.js") });
  onTestFinished(() => llama.close());
  const trainer = { file: process.execPath, args: [workerPath("renders.mjs"), "serve"] };
  const log = quietLog();
  const preparing = createPreparing();
  const files = createGgufFiles({ paths: { gguf: made, exports }, trainer, preparing, log });
  const served: ServedBy[] = [];
  const record = async (_id: string, found: ServedBy) => void served.push(found);
  const proveLoaded = createProveLoaded(llama, createProve({ record, now: () => new Date(0) }));
  const answering = createTrainerEngine(runnerOn("renders.mjs"), log, preparing);
  const engine = createLlamaCppEngine({ trainer: answering, files, llama, proveLoaded, preparing, log });
  const model = (name: string): string => {
    mkdirSync(join(folder, name));
    writeFileSync(join(folder, name, "config.json"), "{}");
    writeFileSync(join(folder, name, "adapter_model.safetensors"), name);
    return join(folder, name);
  };
  return { engine, model, made, exports, files, preparing, log, served };
};

const asked = (base_model: string, change: object = {}) => ({
  spec: chatCall({ base_model, messages: [userSays("Go.")], tools: [], stream: true, ...change }).spec,
  strict_tools: [],
});

test("an answer goes on from the prompt that the trainer rendered, and begins with its opening", async () => {
  const { engine, model, made } = start();
  const events: ChatEvent[] = [];
  const result = await engine.chat(asked(model("base")), undefined, (event) => events.push(event));
  expect(result).toMatchObject({ text: "<<<<", finish_reason: "length", prompt_tokens: 3, completion_tokens: 4 });
  expect(events[0]).toEqual({ type: "prompt", prompt: { prompt_tokens: 3, tool_format: "hermes" } });
  expect(events.map((event) => (event.type === "token" ? event.text : "")).join("")).toBe("<<<<");
  expect(readdirSync(made)).toHaveLength(1);
});

test.each([
  ["cannot take", "unsupported"],
  ["cannot load", "unloadable"],
  ["crashes over", "crashing"],
])("a base that llama.cpp %s is answered by the trainer, with one line in the log", async (_, name) => {
  const { engine, model, log } = start();
  const base = model(name);
  for (const _again of [1, 2]) {
    const events: ChatEvent[] = [];
    expect((await engine.chat(asked(base), undefined, (event) => events.push(event))).text).toBe("the trainer");
    expect(events).toEqual([]); // the double of the trainer tells none
  }
  expect(log.lines.filter((line) => line.includes("the trainer answers its chats"))).toHaveLength(1);
});

test("a file beside the weights, which a pull wrote, is served as it is", async () => {
  const { engine, model, made } = start();
  const base = model("base");
  writeFileSync(join(base, "llama-cpp-1-nf4.gguf"), "GGUF");
  expect((await engine.chat(asked(base))).text).toBe("<<<<");
  expect(readdirSync(made)).toEqual([]);
});

test("a count needs no model", async () => {
  const { engine, model, made } = start();
  expect(await engine.chat(asked(model("base"), { max_tokens: 0 }))).toMatchObject({ prompt_tokens: 3, completion_tokens: 0 });
  expect(readdirSync(made)).toEqual([]);
});

test("files of a base are made once, and again when it changes", async () => {
  const { engine, model, made } = start();
  const base = model("base");
  await Promise.all([engine.chat(asked(base)), engine.chat(asked(base))]);
  expect(readdirSync(made)).toHaveLength(1);
  writeFileSync(join(base, "config.json"), '{"changed":true}');
  await engine.chat(asked(base));
  expect(readdirSync(made)).toHaveLength(2);
});

test("the file of an adapter lies among its exports, and what an evaluation writes beside its weights makes no other", async () => {
  const { engine, model, made, exports } = start();
  const [base, mine] = [model("base"), model("mine")];
  await engine.chat(asked(base, { adapter_path: mine }));
  writeFileSync(join(mine, "evaluation.json"), "{}");
  await engine.chat(asked(base, { adapter_path: mine }));
  expect(readdirSync(join(exports, "mine", "engine"))).toHaveLength(1);
  expect(readdirSync(made)).toHaveLength(1);
  writeFileSync(join(mine, "adapter_model.safetensors"), "other weights");
  await engine.chat(asked(base, { adapter_path: mine }));
  expect(readdirSync(join(exports, "mine", "engine"))).toHaveLength(2);
});

test("an adapter is proved once, when it is loaded first, and one that changes nothing is the trainer's to answer", async () => {
  const { engine, model, served } = start();
  const [base, mine, idle] = [model("base"), model("mine"), model("idle")];
  for (const folder of [mine, idle]) writeFileSync(join(folder, "proof.json"), JSON.stringify(goodProof));
  for (const _ of [1, 2]) await engine.chat(asked(base, { adapter_path: mine }));
  const exact = { by: "llama.cpp", applied: true, off: expect.closeTo(0), measured_at: "1970-01-01T00:00:00.000Z" };
  expect(served).toEqual([exact]);
  expect((await engine.chat(asked(base, { adapter_path: idle }))).text).toBe("the trainer");
  const handOver = engine.handOver?.(asked(base, { adapter_path: idle }).spec);
  await expect(handOver).rejects.toMatchObject({ code: "ADAPTER_NOT_APPLIED" });
  expect(served.at(-1)).toMatchObject({ applied: false, off: 0.5 });
  await engine.handOver?.(asked(model("unsupported"), { adapter_path: mine }).spec);
});

test("a model that is being written is told in the log and to whoever asks, and ends with the service", async () => {
  const { engine, model, made, files, preparing, log } = start();
  const chat = engine.chat(asked(model("slow")));
  const ended = expect(chat).rejects.toMatchObject({ code: "SHUTTING_DOWN" });
  const told = () => readFileSync(join(made, "pid"), "utf8");
  await vi.waitFor(() => expect(told()).not.toBe(""), { timeout: 10_000 }); // it is there before it is written
  const pid = Number(told());
  expect(log.lines.join()).toContain("warn: the base model is written for llama.cpp, once; chats wait for it");
  await vi.waitFor(() => expect(preparing.now()).toEqual(["the base model is written for llama.cpp, once: reading the weights"]));
  files.close();
  await ended;
  await vi.waitFor(() => expect(() => process.kill(pid, 0)).toThrow("ESRCH"));
  expect(preparing.now()).toEqual([]);
});

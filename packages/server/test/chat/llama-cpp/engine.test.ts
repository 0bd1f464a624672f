import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { createTrainerEngine } from "../../../src/chat/engine.js";
import { createLlamaCppEngine } from "../../../src/chat/llama-cpp/engine.js";
import { createGgufFiles } from "../../../src/chat/llama-cpp/gguf-files.js";
import { createLlamaProcess } from "../../../src/chat/llama-cpp/process.js";
import type { ChatEvent } from "../../../src/runners/runner.js";
import { quietLog } from "../../common/quiet-log.js";
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
  const files = createGgufFiles({ paths: { gguf: made, exports }, trainer });
  const engine = createLlamaCppEngine({
    trainer: createTrainerEngine(runnerOn("renders.mjs"), quietLog()),
    files,
    llama,
    log: quietLog(),
  });
  const model = (name: string): string => {
    mkdirSync(join(folder, name));
    writeFileSync(join(folder, name, "config.json"), "{}");
    return join(folder, name);
  };
  return { engine, model, made, exports };
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

test("a base that llama.cpp cannot take is answered by the trainer", async () => {
  const { engine, model } = start();
  expect((await engine.chat(asked(model("unsupported")))).text).toBe("the trainer");
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

test("the file of an adapter lies among its exports, which are erased with it", async () => {
  const { engine, model, made, exports } = start();
  await engine.chat(asked(model("base"), { adapter_path: model("mine") }));
  expect(readdirSync(join(exports, "mine", "engine"))).toHaveLength(1);
  expect(readdirSync(made)).toHaveLength(1);
});

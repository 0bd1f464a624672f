import { fileURLToPath } from "node:url";
import { afterEach, expect, test } from "vitest";
import { createLlamaProcess, type LlamaProcess } from "../../../src/chat/llama-cpp/process.js";
import type { Generated, Generation } from "../../../src/chat/llama-cpp/protocol.js";

const here = (name: string): string => fileURLToPath(new URL(name, import.meta.url));
const PROGRAM = here("../../../dist/chat/llama-cpp/llama-process.js");
const letters = (text: string): number[] => [...text].map((letter) => letter.charCodeAt(0));

let llama: LlamaProcess | undefined;
afterEach(() => llama?.close());
const start = (): LlamaProcess => {
  llama = createLlamaProcess({ library: here("library.mjs"), program: PROGRAM });
  return llama;
};

const asked = (prompt: string, change: Partial<Generation> = {}): Generation => ({
  model: "base.gguf",
  adapter: null,
  tokens: letters(prompt),
  max_new_tokens: 4,
  context_length: 8192,
  end_tokens: [],
  temperature: 0,
  top_p: 1,
  top_k: 0,
  min_p: 0,
  seed: 0,
  stop: [],
  special: false,
  opening: "",
  grammar: null,
  ...change,
});
const answer = async (engine: LlamaProcess, generation: Generation): Promise<Generated & { readonly text: string }> => {
  let text = "";
  const generated = await engine.generate(generation, (piece) => {
    text += piece;
  });
  return { ...generated, text };
};

test("an answer ends at its length, at an end token, or before a stop text", async () => {
  const engine = start();
  const whole = { text: "bbbb", finish_reason: "length", stop_text: null, completion_tokens: 4, cached_tokens: 0 };
  expect(await answer(engine, asked("ab"))).toEqual(whole);
  const ended = await answer(engine, asked("ab", { end_tokens: letters("b") }));
  expect(ended).toMatchObject({ text: "", finish_reason: "stop", completion_tokens: 1 });
  const stopped = await answer(engine, asked("ab", { adapter: "x.", stop: [".b"] }));
  expect(stopped).toMatchObject({ text: "x", finish_reason: "stop", stop_text: ".b" });
});

test("an answer is greedy unless it is asked for otherwise, whatever the library's own values", async () => {
  const engine = start();
  const choosing = async (change: Partial<Generation>) =>
    JSON.parse(
      (await answer(engine, asked("ab!", { adapter: "choosing", max_new_tokens: 999, end_tokens: letters("!"), ...change })))
        .text,
    );
  expect(await choosing({})).toEqual({ temperature: 0, topP: 1, topK: 0, minP: 0, seed: 0, yieldEogToken: true });
  expect(await choosing({ temperature: 1, top_k: 20, min_p: 0.1 })).toMatchObject({ temperature: 1, topK: 20, minP: 0.1 });
});

test("one of Node's threads takes the steps, and what is written at once is told in few pieces", async () => {
  const engine = start();
  expect((await answer(engine, asked("ab", { adapter: "pool", max_new_tokens: 1 }))).text).toBe("1");
  const pieces: string[] = [];
  await engine.generate(asked("ab", { adapter: "long", max_new_tokens: 400 }), (piece) => pieces.push(piece));
  expect(pieces.join("")).toHaveLength(400);
  expect(pieces.length).toBeLessThan(100);
});

test("an answer that outgrows its context goes on in a longer one, and nothing of it is lost", async () => {
  const engine = start();
  const most = 5000;
  const long = await answer(engine, asked("ab", { adapter: "long", max_new_tokens: most }));
  expect(long).toMatchObject({ completion_tokens: most, finish_reason: "length" });
  expect((await answer(engine, asked("ab", { adapter: "long", max_new_tokens: 99 }))).text).toBe(long.text.slice(0, 99));
  expect(long.text.slice(2040, 2060)).toMatch(/^[a-z]{20}$/);
  expect((await answer(engine, asked("size?", { adapter: "size", max_new_tokens: 8000, end_tokens: letters("?") }))).text).toBe(
    "2048",
  );
});

test.each([
  [1, 512],
  [7, 512],
  [32, 512],
  [33, 900],
])("an answer that says the same %i tokens over and over ends after %i", async (period, length) => {
  const same = Array.from({ length: period }, (_, at) => String.fromCharCode(97 + at)).join("");
  const said = await answer(start(), asked("ab", { adapter: same.repeat(900 / period + 1), max_new_tokens: 900 }));
  expect(said).toMatchObject({ completion_tokens: length, finish_reason: "length", stop_text: null });
});

test("an answer is held to a schema from its beginning, and to its tools from the mark of a call on", async () => {
  const engine = start();
  const schema = await answer(engine, asked("a", { max_new_tokens: 99, grammar: { type: "answer", gbnf: 'root ::= "yes"' } }));
  expect(schema).toMatchObject({ text: 'root ::= "yes"', finish_reason: "stop" });
  const calls = [{ head: '\n{"name": "bash", "arguments": ', rule: "object" }];
  const grammar = { type: "calls", rules: "", calls, isOne: true } as const;
  const called = await answer(engine, asked("a", { adapter: "I look. <tool_call>", grammar, max_new_tokens: 200 }));
  expect(called.text).toMatch(/^I look\. <tool_call>root ::= /);
  const begun = await answer(engine, asked("a", { opening: '<tool_call>\n{"name": "', grammar, max_new_tokens: 200 }));
  expect(begun.text).toMatch(/^root ::= \("bash/);
});

test("the second turn of a conversation computes only what is new", async () => {
  const engine = start();
  const { text } = await answer(engine, asked("question?"));
  const second = await answer(engine, asked(`question?${text}and then!`));
  expect(second.cached_tokens).toBe("question?".length + text.length);
});

test("eight conversations at once, on more adapters than contexts, are not mixed up", async () => {
  const engine = start();
  const names = Array.from({ length: 8 }, (_, at) => `adapter-${at % 5}`);
  const texts = await Promise.all(
    names.map(async (adapter) => (await answer(engine, asked("go", { adapter, max_new_tokens: 9 }))).text),
  );
  expect(texts).toEqual(names);
});

test("a crash fails what was asked, and the next question starts the process again", async () => {
  const engine = start();
  await expect(answer(engine, asked("a", { model: "crash.gguf" }))).rejects.toMatchObject({ code: "WORKER_CRASHED" });
  expect((await answer(engine, asked("a"))).text).toBe("aaaa");
});

test("an answer whose asker leaves ends, and its place is free again", async () => {
  const engine = start();
  const leave = [new AbortController(), new AbortController()];
  const begun = leave.map(
    ({ signal }, at) =>
      new Promise<void>((resolve) => {
        const left = engine.generate(asked("ab", { adapter: "long", max_new_tokens: 1e9 }), () => resolve(), signal);
        left.catch((reason) => expect(reason).toBe(`left ${at}`));
      }),
  );
  await Promise.all(begun);
  for (const [at, one] of leave.entries()) one.abort(`left ${at}`);
  expect((await answer(engine, asked("ab", { max_new_tokens: 1e9, end_tokens: letters("b") }))).text).toBe("");
});

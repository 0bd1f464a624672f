import { mkdtempSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { startLlamaServer } from "../../scripts/lib/coder/llama-server.mjs";
import { UsageError } from "../harness/main.mjs";
import { PROMPTS } from "./prompts.mjs";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const compiled = (name) => import(new URL(`../../packages/server/dist/${name}.js`, import.meta.url).href);
const LONG = "The build of the harbour service failed at the third step, and nobody has looked at the log of the second one. ";

const user = (content) => ({ role: "user", content, tool_calls: [], tool_call_id: null });
const assistant = (content) => ({ ...user(content), role: "assistant" });

async function timed(work) {
  const start = performance.now();
  const result = await work();
  return { result, seconds: (performance.now() - start) / 1000 };
}

/** Both engines over one trainer, and `close`. */
async function engines(folder, model) {
  const [
    { createRunner, trainerCommand },
    { createTrainerEngine },
    { createPreparing },
    { createLlamaCppEngine },
    { createGgufFiles },
    { createLlamaProcess },
  ] = await Promise.all([
    compiled("runners/create"),
    compiled("chat/engine"),
    compiled("chat/preparing"),
    compiled("chat/llama-cpp/engine"),
    compiled("chat/llama-cpp/gguf-files"),
    compiled("chat/llama-cpp/process"),
  ]);
  const [{ loadConfig }, { llamaCppEntry }, { systemClock }] = await Promise.all([
    compiled("config/load"),
    compiled("chat/choose"),
    compiled("common/clock"),
  ]);
  const config = loadConfig({ env: { ...process.env, IMPRINT_DATA_DIR: folder } });
  const log = { info() {}, warn: (...said) => console.error(...said), error: console.error };
  const trainer = trainerCommand(config);
  const places = Object.fromEntries(["models", "adapters"].map((name) => [name, (file) => file]));
  const runner = createRunner({ config, command: trainer, places, clock: systemClock(), log });
  const llama = createLlamaProcess({ library: llamaCppEntry(ROOT) });
  const preparing = createPreparing();
  const worker = createTrainerEngine(runner, log, preparing);
  const files = createGgufFiles({ paths: { gguf: folder, exports: folder }, trainer, preparing, log });
  const llamaCpp = createLlamaCppEngine({ trainer: worker, files, llama, proveLoaded: async () => {}, preparing, log });
  const close = async () => {
    llama.close();
    await runner.close(1000);
  };
  return { worker, llamaCpp, files, close, base: model ?? config.setup.models[config.setup.default_model] };
}

/** Of a greedy answer to a prompt of about 600 tokens: seconds to its first word, the prompt new to a warm engine and then grown by a turn; medians. */
async function firstTokens(engine, ask) {
  const seconds = { new: [], grown: [] };
  for (let round = 0; round < 3; round += 1) {
    const first = [user(`${round} ${LONG.repeat(24)}What failed?`)];
    const until = async (messages) => {
      const began = performance.now();
      let at = null;
      const heard = () => {
        at ??= (performance.now() - began) / 1000;
      };
      const { text } = await ask(
        engine,
        messages,
        null,
        { max_tokens: 8, stream: true },
        (event) => event.type === "token" && heard(),
      );
      return { at, text };
    };
    const answer = await until(first);
    const again = await until([...first, assistant(answer.text), user("And then?")]);
    seconds.new.push(answer.at);
    seconds.grown.push(again.at);
  }
  return Object.fromEntries(Object.entries(seconds).map(([name, all]) => [name, all.toSorted((a, b) => a - b)[1]]));
}

/** Tokens a second of llama.cpp's own server, which holds the same `file`, beside `answer`'s of a prompt, one after the other. */
async function besideServer(file, answer, max_tokens, prompts) {
  const server = await startLlamaServer({ root: ROOT, env: process.env, args: [file, "base", "", String(os.cpus().length)] });
  const served = async (prompt) => {
    const body = JSON.stringify({ messages: [{ role: "user", content: prompt }], temperature: 0, max_tokens });
    const response = await fetch(`${server.url}/v1/chat/completions`, { method: "POST", body });
    return (await response.json()).usage;
  };
  try {
    const ways = [answer, served].map((ask) => ({ ask, seconds: 0, tokens: 0 }));
    for (const { ask } of ways) await ask("Hello");
    for (const prompt of prompts)
      for (const way of ways) {
        const { result, seconds } = await timed(() => way.ask(prompt));
        way.seconds += seconds;
        way.tokens += result.completion_tokens;
      }
    return ways.map(({ tokens, seconds }) => tokens / seconds);
  } finally {
    server.close();
  }
}

export const benchmark = {
  name: "chat",
  description: "llama.cpp beside the trainer: equal answers, tokens a second, seconds to the first word",
  options: {
    adapter: { type: "string" },
    base: { type: "string" },
    prompts: { type: "string", default: "50" },
    tokens: { type: "string", default: "32" },
    "llama-server": { type: "boolean", default: false },
  },
  async run({ options, print }) {
    if (options.adapter === undefined)
      throw new UsageError("--adapter FOLDER names an adapter of the default model, or of --base FOLDER.");
    const folder = mkdtempSync(path.join(os.tmpdir(), "imprint-chat-"));
    const { worker, llamaCpp, files, close, base } = await engines(folder, options.base && path.resolve(options.base));
    const [max_tokens, prompts] = [Number(options.tokens), PROMPTS.slice(0, Number(options.prompts))];
    const ask = (engine, messages, adapter_path = null, change = {}, onEvent = undefined) => {
      const plain = { tools: [], tool_choice: "auto", parallel_tool_calls: true, json_schema: null, stop: [], stream: false };
      const greedy = { temperature: 0, top_p: 1, top_k: 0, min_p: 0, enable_thinking: null, seed: 0 };
      const spec = { base_model: base, adapter_path, messages, ...plain, ...greedy, max_tokens, ...change };
      return engine.chat({ spec, strict_tools: [] }, undefined, onEvent);
    };
    const figures = { tokens: max_tokens };
    try {
      const cold = await timed(() => ask(llamaCpp, [user("Hello")], null, { max_tokens: 1 }));
      figures.cold_seconds = cold.seconds;
      print(`first answer of llama.cpp after a cold start: ${cold.seconds.toFixed(1)} s`);
      const models = { base: null, adapter: path.resolve(options.adapter) };
      for (const [name, adapter] of Object.entries(models)) {
        for (const engine of [worker, llamaCpp]) await ask(engine, [user("Hello")], adapter, { max_tokens: 1 });
        let [equal, seconds, tokens] = [0, [0, 0], [0, 0]];
        for (const prompt of prompts) {
          const answers = [];
          for (const [at, engine] of [worker, llamaCpp].entries()) {
            const one = await timed(() => ask(engine, [user(prompt)], adapter));
            answers.push(one.result.text);
            seconds[at] += one.seconds;
            tokens[at] += one.result.completion_tokens;
          }
          equal += answers[0] === answers[1] ? 1 : 0;
        }
        const [trainer, llama] = tokens.map((count, at) => count / seconds[at]);
        figures[name] = {
          prompts: prompts.length,
          equal,
          trainer_tokens_s: trainer,
          llama_cpp_tokens_s: llama,
          ratio: llama / trainer,
          load: os.loadavg()[0],
        };
        print(
          `${name}: ${equal} of ${prompts.length} answers equal; ${trainer.toFixed(1)} and ${llama.toFixed(1)} tokens/s, ${(llama / trainer).toFixed(1)} times; load ${os.loadavg()[0].toFixed(1)}`,
        );
      }
      for (const [name, engine] of Object.entries({ trainer: worker, llama_cpp: llamaCpp })) {
        const seconds = await firstTokens(engine, ask);
        figures[`first_token_${name}`] = { ...seconds, load: os.loadavg()[0] };
        print(
          `${name}: first word after ${seconds.new.toFixed(2)} s of a new prompt of 600 tokens, ${seconds.grown.toFixed(2)} s of a second turn; load ${os.loadavg()[0].toFixed(1)}`,
        );
      }
      if (options["llama-server"]) {
        const file = await files.base(base, "nf4");
        const [ours, theirs] = await besideServer(file, (prompt) => ask(llamaCpp, [user(prompt)]), max_tokens, prompts);
        figures.llama_server = { ours, theirs, ratio: ours / theirs };
        print(`beside llama-server: ${ours.toFixed(1)} and ${theirs.toFixed(1)} tokens/s, ${(ours / theirs).toFixed(2)} times`);
      }
    } finally {
      await close();
      rmSync(folder, { recursive: true, force: true });
    }
    return figures;
  },
};

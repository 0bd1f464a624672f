import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { startLlamaServer } from "../../scripts/lib/coder/llama-server.mjs";
import { startDemoService } from "../../scripts/lib/demo/service.mjs";
import { ROOT } from "../../scripts/lib/setup/main.mjs";
import { defaultModel, userPath } from "../../scripts/lib/trainer.mjs";
import { since } from "../harness/pairs.mjs";
import { spread } from "../harness/statistics.mjs";
import { PROMPTS } from "./prompts.mjs";

const LONG = "The build of the harbour service failed at the third step, and nobody has looked at the log of the second one. ";
const user = (content) => ({ role: "user", content });

/** Of a greedy answer to a prompt of about 600 tokens: seconds to its first word, the prompt new to a warm engine and then grown by a turn; medians. */
async function firstWords(stream, rounds) {
  const until = async (messages) => {
    const began = performance.now();
    let [at, text] = [null, ""];
    for await (const { choices } of await stream(messages)) {
      text += choices[0]?.delta.content ?? "";
      at ??= text === "" ? null : since(began);
    }
    return { at, text };
  };
  const seconds = { new: [], grown: [] };
  for (let round = 0; round < rounds; round += 1) {
    const first = [user(`${round} ${LONG.repeat(24)}What failed?`)];
    const { at, text } = await until(first);
    seconds.new.push(at);
    seconds.grown.push((await until([...first, { role: "assistant", content: text }, user("And then?")])).at);
  }
  return { new: spread(seconds.new).median, grown: spread(seconds.grown).median };
}

/** Tokens a second of each way to answer, prompt by prompt in turn. */
async function speeds(ways, prompts) {
  const found = ways.map((answer) => ({ answer, seconds: 0, tokens: 0 }));
  for (const { answer } of found) await answer("Hello");
  for (const prompt of prompts)
    for (const way of found) {
      const began = performance.now();
      const { usage } = await way.answer(prompt);
      way.seconds += since(began);
      way.tokens += usage.completion_tokens;
    }
  return found.map(({ tokens, seconds }) => tokens / seconds);
}

export const benchmark = {
  name: "chat",
  description: "the service's answers beside llama.cpp's own server on the same file: tokens a second, seconds to the first word",
  options: { base: { type: "string" }, prompts: { type: "string", default: "12" }, tokens: { type: "string", default: "32" } },
  async run({ options, rounds, print }) {
    const folder = mkdtempSync(path.join(os.tmpdir(), "imprint-chat-"));
    const base = options.base === undefined ? defaultModel() : userPath(options.base);
    const asked = { temperature: 0, max_tokens: Number(options.tokens) };
    const service = await startDemoService({ dataDir: folder, flags: { base_model: base, engine: "llama.cpp" } });
    const ask = (messages, change = {}) =>
      service.client.chat.completions.create({ model: service.baseModel, messages, ...asked, ...change });
    let server;
    try {
      const began = performance.now();
      await ask([user("Hello")], { max_tokens: 1 });
      const cold_seconds = since(began);
      print(`first answer after a cold start: ${cold_seconds.toFixed(1)} s`);
      const first_word = await firstWords((messages) => ask(messages, { max_tokens: 8, stream: true }), rounds);
      print(
        `first word after ${first_word.new.toFixed(2)} s of a new prompt of 600 tokens, ${first_word.grown.toFixed(2)} s of a second turn`,
      );
      const ggufs = [base, folder].flatMap((root) =>
        readdirSync(root, { recursive: true }).flatMap((name) => (name.endsWith(".gguf") ? path.join(root, name) : [])),
      );
      const args = [ggufs[0], "base", "", String(os.cpus().length)];
      server = await startLlamaServer({ root: ROOT, env: process.env, args });
      const theirs = async (prompt) => {
        const body = JSON.stringify({ messages: [user(prompt)], ...asked });
        return (await fetch(`${server.url}/v1/chat/completions`, { method: "POST", body })).json();
      };
      const prompts = PROMPTS.slice(0, Number(options.prompts));
      const [ours, llama_server] = await speeds([(prompt) => ask([user(prompt)]), theirs], prompts);
      const ratio = ours / llama_server;
      print(`${ours.toFixed(1)} tokens/s, llama-server ${llama_server.toFixed(1)}: ${ratio.toFixed(2)} times`);
      return { ...asked, cold_seconds, first_word, tokens_s: ours, llama_server, ratio, load: os.loadavg()[0] };
    } finally {
      server?.close();
      await service.close();
      rmSync(folder, { recursive: true, force: true });
    }
  },
};

import { createHash } from "node:crypto";
import { copyFileSync, createReadStream, readFileSync } from "node:fs";
import path from "node:path";
import { pipeline } from "node:stream/promises";
import { verdictOf } from "../../../packages/contracts/dist/index.js";
import { CLIENTS } from "../agents/clients.mjs";
import { installAgent } from "../agents/install.mjs";
import { talk } from "../agents/talk.mjs";
import { askEveryFace } from "./faces.mjs";
import { startLlamaServer } from "./llama-server.mjs";

const MODEL = "qwen2.5-coder-0.5b-instruct";
/** SHA-256 of the bf16 weights that the catalogue's file is converted to. */
const WEIGHTS = "df8f6054b92991e0e1c748f8e5c6dcd289f0798d8a5200745ec8c0ffc752a8df";
const EXAMPLES = ["examples", "sessions"];
const SESSION = "harborline-gates";
const OTHER = "5b0f6d1e-9c44-4a7b-8f12-7413c0ffee01";
const ADAPTER = "coder-gates";
/** What other text may lose, by docs/evaluation.md. */
const NEUTRAL = 1.05;

const change = (before, after) => `${before.toFixed(3)} to ${after.toFixed(3)}`;

/** `[condition, sentence]` pairs: the sentences of those that do not hold. */
const unless = (...pairs) => ({ wrong: pairs.filter(([holds]) => !holds).map(([, sentence]) => sentence) });

async function hashOf(file) {
  const hash = createHash("sha256");
  await pipeline(createReadStream(file), hash);
  return hash.digest("hex");
}

async function pull({ imprint, dataDir }) {
  await imprint("models", "pull", MODEL);
  const found = await hashOf(path.join(dataDir, "models", MODEL, "model.safetensors"));
  return unless([found === WEIGHTS, `the weights have the hash ${found}, not ${WEIGHTS}`]);
}

async function list({ imprint }) {
  const { models } = await imprint("models");
  const one = models.find(({ name }) => name === MODEL);
  return unless(
    [one?.here, `imprint models does not list ${MODEL} as here`],
    [one?.template === "tools", `its template is ${one?.template}, not one with tools`],
    [one?.training?.fits, "a training on it does not fit here"],
  );
}

async function train({ imprint, root }) {
  const session = path.join(root, ...EXAMPLES, `${SESSION}.json`);
  const { proof } = await imprint("train", session, "--base-model", MODEL, "--adapter-id", ADAPTER, "--watch");
  const { loss_before, loss_after, neutral_loss_before, neutral_loss_after, accepted_by } = proof;
  const refused = Object.keys(accepted_by).filter((consumer) => !accepted_by[consumer]);
  const loss = change(loss_before, loss_after);
  const neutral = change(neutral_loss_before, neutral_loss_after);
  return {
    ...unless(
      [verdictOf(proof) === "learned", `it did not learn: its loss went from ${loss}`],
      [neutral_loss_after <= neutral_loss_before * NEUTRAL, `other text went from ${neutral}`],
      [refused.length === 0, `${refused.join(", ")} would refuse the adapter`],
    ),
    remark: `loss ${loss}, other text ${neutral}`,
  };
}

async function chat({ imprint }) {
  const { choices } = await imprint("chat", "latest", "--prompt", "Write a parser for gate files.", "--max-tokens", "48");
  const { content } = choices[0].message;
  return { ...unless([content?.trim(), "it said nothing"]), remark: JSON.stringify(content?.slice(0, 60)) };
}

async function serve(place) {
  place.service = await place.serve();
}

async function evaluate({ imprint, root }) {
  await imprint("import", path.join(root, ...EXAMPLES, "claude-code"));
  const { verdict } = await imprint("evaluate", ADAPTER, "--on", OTHER, "--actions", "1");
  return unless([verdict === "too_little_to_tell", `one session was enough for the verdict ${verdict}`]);
}

async function imprintOf({ refusal }) {
  const { code, message } = await refusal("train", SESSION, "--base-model", MODEL, "--method", "hypernetwork", "--watch");
  return unless(
    [code === "HYPERNETWORK_NOT_INSTALLED", `it was refused with ${code}`],
    [message.includes(`imprint hypernetworks measure --base ${MODEL}`), `it does not name the command: ${message}`],
  );
}

/** Real agents talk to the adapter: what they are answered has to be understood. */
const agent = (name) => async (place) => {
  const { root, env, signal, dataDir, service } = place;
  const client = CLIENTS[name];
  const programs = await installAgent({ name, package: client.package, root, env, signal });
  return talk({ name, client, programs, root, env, signal, service: { url: service.url, baseModel: ADAPTER, dataDir } });
};

/** What answers chats says with the adapter what its proof says: the default engine, else the server that the service was told of. */
async function proveServed({ service }) {
  const { served } = await service.client.adapters.serve(ADAPTER);
  return {
    ...unless(
      [served !== null, "only the trainer answers chats: npm run setup installs llama.cpp"],
      [served === null || served.applied, `${served?.by} does not apply the adapter`],
    ),
    remark: served === null ? undefined : `${served.by}, ${served.off?.toFixed(3)} nats off the proof`,
  };
}

async function exportAll({ imprint, folder }) {
  const at = (name) => path.join(folder, name);
  await imprint("export", ADAPTER, "--format", "gguf", "--out", at("adapter.gguf"));
  await imprint("export", ADAPTER, "--format", "merged", "--out", at("merged"));
  await imprint("models", "add", at("merged"));
  await imprint("export", "--format", "gguf", "--base", "merged", "--quantization", "none", "--out", at("merged.gguf"));
  const strange = ["adapter.gguf", "merged.gguf"].filter((name) => readFileSync(at(name)).toString("latin1", 0, 4) !== "GGUF");
  // Reads every tensor and the tokenizer, and asks for the loss on ordinary text.
  await imprint("models", "add", at("merged.gguf"), "--name", "merged-gguf");
  return unless([strange.length === 0, `${strange.join(" and ")} is no GGUF file`]);
}

/** A real llama-server that holds the exported adapter, as the service's upstream. */
async function llamaServer(place) {
  const { root, env, signal, folder, dataDir } = place;
  const weights = path.join(dataDir, "adapters", ADAPTER, "adapter_model.safetensors");
  const lora = path.join(folder, `${ADAPTER}-${(await hashOf(weights)).slice(0, 12)}.gguf`);
  copyFileSync(path.join(folder, "adapter.gguf"), lora);
  const model = path.join(dataDir, "models", MODEL, "llama-cpp-1-nf4.gguf");
  const server = await startLlamaServer({ root, env, signal, args: [model, MODEL, lora] });
  try {
    place.service = await place.serve("--upstream", server.url);
    const { wrong, remark } = await proveServed(place);
    return { wrong: [...wrong, ...(/^llamacpp at /.test(remark) ? [] : ["llama-server was not asked"])], remark };
  } finally {
    server.close();
  }
}

/** One after the other: each with the place that those before it left. */
export const STEPS = [
  [`imprint models pull ${MODEL}`, pull],
  ["imprint models", list],
  [`imprint train ${SESSION}.json, with its proof`, train],
  ["imprint chat latest", chat],
  ["imprint serve", serve],
  ["imprint evaluate", evaluate],
  ["imprint train --method hypernetwork names what makes one", imprintOf],
  [
    "chats with a tool through three APIs",
    async ({ service, signal }) => ({ wrong: await askEveryFace({ url: service.url, model: ADAPTER, signal }) }),
  ],
  ["the engine applies the adapter", proveServed],
  ["mini-swe-agent", agent("mini")],
  ["opencode", agent("opencode")],
  ["exports to GGUF, adapter and merged", exportAll],
  ["llama-server applies the adapter", llamaServer],
];

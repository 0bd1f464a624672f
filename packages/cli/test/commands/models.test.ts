import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, lstatSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { findRepoRoot, readSetup } from "@imprint/server/configuration";
import { beforeAll, expect, it, onTestFinished, vi } from "vitest";
import { build } from "../support/build.js";
import { imprint } from "../support/imprint.js";
import { type Place, place } from "../support/service.js";

vi.setConfig({ testTimeout: 120_000 });
beforeAll(build, 120_000);

/** A data directory of its own, with the interpreter that the set-up prepared, and a hub's cache of its own. */
const realPlace = async (): Promise<Place> => {
  const at = await place();
  const { IMPRINT_BASE_MODEL: _, ...env } = at.env;
  const IMPRINT_PYTHON = readSetup(findRepoRoot())?.python ?? "the set-up has not run";
  return { ...at, env: { ...env, IMPRINT_PYTHON, HF_HOME: path.join(at.root, "hub"), NO_PROXY: "127.0.0.1" } };
};

const settings = (at: Place): unknown => JSON.parse(readFileSync(path.join(at.dataDir, "config.json"), "utf8"));

it("a folder is added by its name, becomes the default, and is removed without its files", async () => {
  const at = await realPlace();
  const folder = path.join(at.root, "tiny-model");
  const added = await imprint(["models", "add", folder], at);
  expect([added.code, added.stderr]).toEqual([0, ""]);
  expect(added.stdout).toContain("train SESSION --base-model tiny-model --watch");
  expect(lstatSync(path.join(at.dataDir, "models", "tiny-model")).isSymbolicLink()).toBe(true);

  writeFileSync(path.join(at.dataDir, "config.json"), JSON.stringify({ port: 7979 }));
  expect((await imprint(["models", "default", "tiny-model"], at)).stdout).toContain("tiny-model is the default");
  expect(settings(at)).toEqual({ port: 7979, base_model: "tiny-model" });
  const { stdout } = await imprint(["models"], at);
  expect(stdout).toMatch(/^tiny-model \(default\) .* none +folder .* transformers$/m);
  expect(stdout).toMatch(/^qwen2\.5-coder-0\.5b-instruct +491 MB to fetch +apache-2\.0 +32,768 +with tools +\S.* models pull /m);

  const kept = await imprint(["models", "rm", "tiny-model"], at);
  expect([kept.code, kept.stderr]).toEqual([2, expect.stringContaining("models default NAME")]);
  const env = { ...at.env, IMPRINT_BASE_MODEL: "other" };
  const wins = await imprint(["models", "default", "tiny-model"], { env });
  expect(wins.stdout).toContain("The environment names other, which wins.");
  expect((await imprint(["models", "rm", "tiny-model"], { env })).code).toBe(0);
  expect(existsSync(path.join(folder, "config.json"))).toBe(true);
});

it("a hub that cannot be reached and a broken file are sentences, and leave nothing half there", async () => {
  const at = await realPlace();
  const offline = await imprint(["models", "pull", "me/tiny"], { env: { ...at.env, HF_ENDPOINT: "http://127.0.0.1:1" } });
  expect(offline.code).toBe(1);
  expect(offline.stdout).toMatch(/^✗ Job \w+ failed: the hub http:\/\/127\.0\.0\.1:1 cannot be reached for me\/tiny/);

  writeFileSync(path.join(at.root, "broken.gguf"), "GGUF");
  const broken = await imprint(["models", "add", path.join(at.root, "broken.gguf"), "--name", "broken"], at);
  expect([broken.code, broken.stdout]).toEqual([1, ""]);
  expect(broken.stderr).toContain("broken.gguf cannot be read as GGUF");
  const listed = JSON.parse((await imprint(["models", "--json"], at)).stdout).models as { name: string; here: boolean }[];
  expect(listed.filter(({ name, here }) => here && ["me/tiny", "broken"].includes(name))).toEqual([]);
});

/** The hub of the trainer's tests: every file of `me/tiny`, and what goes wrong with it. */
const HUB = `
import json, sys
from hub_double import hub_double
options = json.loads(sys.argv[1])
with hub_double() as hub:
    hub.files = {name: text.encode() for name, text in options["files"].items()}
    hub.gated, hub.cut, hub.wrong = options["gated"], set(options["cut"]), set(options["wrong"])
    print(hub.url, flush=True)
    sys.stdin.read()
`;
const LLAMA = { architectures: ["LlamaForCausalLM"], model_type: "llama", hidden_size: 8, intermediate_size: 16 };
const SIZES = { num_hidden_layers: 1, num_attention_heads: 1, vocab_size: 32, max_position_embeddings: 64, dtype: "bfloat16" };
const FILES = { "config.json": JSON.stringify({ ...LLAMA, ...SIZES }), "model.safetensors": "weights ".repeat(4096) };

const startHub = async (at: Place, wrong: object): Promise<Place> => {
  const options = JSON.stringify({ files: FILES, gated: false, cut: [], wrong: [], ...wrong });
  const env = { PATH: process.env.PATH, PYTHONPATH: path.join(findRepoRoot(), "trainer", "tests") };
  const hub = spawn(at.env.IMPRINT_PYTHON ?? "", ["-c", HUB, options], { env, stdio: ["pipe", "pipe", "inherit"] });
  onTestFinished(() => void hub.kill());
  const [url] = (await once(hub.stdout, "data")) as [Buffer];
  return { ...at, env: { ...at.env, HF_ENDPOINT: String(url).trim(), HF_HUB_DISABLE_XET: "1" } };
};

it.each([
  ["gated", { gated: true }, /me\/tiny is gated: accept its terms at/],
  ["sent with another content", { wrong: ["model.safetensors"] }, /model\.safetensors of me\/tiny does not have the hash/],
])("a model that is %s is a sentence of the pull's job", async (_what, wrong, said) => {
  const failed = await imprint(["models", "pull", "me/tiny"], await startHub(await realPlace(), wrong));
  expect([failed.code, failed.stdout]).toEqual([1, expect.stringMatching(said)]);
});

it("a model whose download is cut off is not there; the next pull fetches it, and it is listed", async () => {
  const at = await realPlace();
  const failed = await imprint(["models", "pull", "me/tiny"], await startHub(at, { cut: ["model.safetensors"] }));
  expect([failed.code, failed.stdout]).toEqual([1, expect.stringContaining("cannot be reached for me/tiny, or was cut off")]);
  const whole = await startHub(at, {});
  const listed = async () =>
    JSON.parse((await imprint(["models", "--json"], whole)).stdout).models.find(
      (one: { name: string }) => one.name === "me/tiny",
    );
  expect(await listed()).toBeUndefined();
  const done = await imprint(["models", "pull", "me/tiny"], whole);
  expect([done.code, done.stdout]).toEqual([0, expect.stringContaining("✓ me/tiny is here.")]);
  expect(await listed()).toMatchObject({ from: "hub cache", weights: "bfloat16", training: { fits: true } });
});

it("a name that is none, and a name that is taken, are wrong usage", async () => {
  const at = await realPlace();
  for (const name of ["taken", "TAKEN"]) mkdirSync(path.join(at.dataDir, "models", name), { recursive: true });
  writeFileSync(path.join(at.root, "taken.gguf"), "GGUF");
  for (const [line, said] of [
    ["pull ../x", "neither a name of a model nor a hub id"],
    ["default nobody", "not prepared here"],
    ["rm nobody", "There is no base model nobody"],
    [`add ${at.root}/absent`, "There is no folder absent"],
    [`add ${at.root}/tiny-model --name x`, "a folder goes by its own name"],
    [`add ${at.root}/taken.gguf`, "another base model is called taken here"],
    [`add ${at.root}/TAKEN.GGUF`, "another base model is called TAKEN here"],
  ] as const) {
    const { code, stderr } = await imprint(["models", ...line.split(" ")], at);
    expect([code, stderr], line).toEqual([2, expect.stringContaining(said)]);
  }
});

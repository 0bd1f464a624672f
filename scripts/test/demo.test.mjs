import { execFileSync, spawn, spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { beforeAll, expect, it, onTestFinished, vi } from "vitest";
import { lastAttempt } from "../lib/demo/chapters/ask.mjs";
import { doubts } from "../lib/demo/doubts.mjs";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const TRAINER = path.join(ROOT, "packages/server/test/fixtures/workers/trainer.mjs");

vi.setConfig({ testTimeout: 60_000 });
// The demo runs what setup has built.
beforeAll(
  () => execFileSync(process.execPath, ["node_modules/typescript/bin/tsc", "-b", "packages/cli"], { cwd: ROOT }),
  120_000,
);

/** Tells the story with a trainer that learns nothing but behaves, or as `behaviour` says. */
function start(behaviour = {}) {
  const root = mkdtempSync(path.join(tmpdir(), "imprint-demo-"));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  mkdirSync(path.join(root, "tiny-model"));
  for (const file of ["config.json", "model.safetensors"]) writeFileSync(path.join(root, "tiny-model", file), "{}");
  const python = path.join(root, "python");
  const worker = `echo $$ > "${root}/pid"\nexec "${process.execPath}" "${TRAINER}" '${JSON.stringify({ ...behaviour, wait_for: behaviour.waits && path.join(root, "go") })}'\n`;
  writeFileSync(python, `#!/bin/sh\n${worker}`);
  chmodSync(python, 0o755);
  const { PATH, HOME } = process.env;
  const model = { IMPRINT_BASE_MODEL: path.join(root, "tiny-model"), IMPRINT_ENGINE: "transformers" };
  const env = { PATH, HOME, IMPRINT_PYTHON: python, ...model };
  const child = spawn(process.execPath, [path.join(ROOT, "scripts/test/support/tell.mjs"), path.join(root, "data")], { env });
  onTestFinished(() => void child.kill("SIGKILL"));
  let out = "";
  const heard = new Set();
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (chunk) => {
      out += chunk;
      for (const look of heard) look();
    });
  return {
    root,
    child,
    said: (text) =>
      new Promise((resolve) => {
        const look = () => out.includes(text) && resolve();
        heard.add(look);
        look();
      }),
    ended: new Promise((resolve) => child.once("close", (code) => resolve({ code, out }))),
  };
}

const isAlive = (pid) => {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
};

it("imports, trains, proves and asks, and leaves the adapter and no process", async () => {
  const { root, ended } = start();
  const { code, out } = await ended;
  expect(out).toContain("✓ examples/sessions/harborline-gates.json");
  expect(out).toContain("loss on the session        2.500 → 0.400  −84 %  over 120 supervised tokens");
  expect(out).toContain("accepted by                PEFT ✓  vLLM ✓  llama.cpp ✓");
  expect(out).toMatch(/│ base: \S/);
  expect(out).toMatch(/│ adapter: \S/);
  const [, folder] = /folder +(\S+)/.exec(out);
  expect(existsSync(path.resolve(folder, "adapter_model.safetensors"))).toBe(true);
  expect(isAlive(Number(readFileSync(path.join(root, "pid"), "utf8")))).toBe(false);
  // The fixture's answers repeat the last message, which holds nothing that was learned.
  expect(out).toContain("0 of 12 by the base model, 0 of 12 with the adapter");
  expect(out).toContain("✗ The adapter writes no more of what only the session could have taught than the base model.");
  expect(out).toMatch(/\d\.\d s from start to registered adapter/);
  expect(code).toBe(1);
});

it("a failed training is exit code 1, with the sentence and what to do", async () => {
  const fail = { code: "OUT_OF_MEMORY", message: "The machine has 1 GB.", hint: "Lower max_length." };
  const { code, out } = await start({ fail }).ended;
  expect(code).toBe(1);
  expect(out).toContain("The demo failed: The machine has 1 GB. Lower max_length.");
});

it("an interrupt ends it with nothing left running", async () => {
  const { root, child, said, ended } = start({ waits: true });
  await said("step 1/3");
  child.kill("SIGINT");
  const { code, out } = await ended;
  expect(code).toBe(1);
  expect(out).toContain("Interrupted. Nothing is left running.");
  expect(isAlive(Number(readFileSync(path.join(root, "pid"), "utf8")))).toBe(false);
});

const proof = {
  accepted_by: { peft: true, vllm: true },
  keys_matched: 4,
  keys_expected: 4,
  loss_before: 2,
  loss_after: 1,
  neutral_loss_before: 3,
  neutral_loss_after: 3,
};
const sound = {
  proof,
  health: "ok",
  before: { text: "hello", taught: 1 },
  after: { text: "port 7413", taught: 4 },
  imprinted: proof,
};

it.each([
  [{}, []],
  [{ proof: { ...sound.proof, loss_after: 2 } }, ["The adapter did not learn its session, or forgot too much for it."]],
  [{ proof: { ...sound.proof, neutral_loss_after: 4 } }, ["The adapter did not learn its session, or forgot too much for it."]],
  [{ proof: { ...sound.proof, keys_matched: 3 } }, ["Only 3 of 4 tensors reached the model."]],
  [{ proof: { ...sound.proof, accepted_by: { peft: true, vllm: false } } }, ["vllm would refuse the adapter."]],
  [{ health: "corrupt" }, ["The registry finds the adapter corrupt."]],
  [{ before: { text: "port 7413", taught: 1 } }, ["The adapter answers as the base model does."]],
  [
    { after: { text: "hi", taught: 1 } },
    ["The adapter writes no more of what only the session could have taught than the base model."],
  ],
  [{ imprinted: { ...proof, loss_after: 3 } }, ["The imprint of the session did not learn it, or forgot too much for it."]],
])("what is wrong with %j is said", (changes, expected) => {
  expect(doubts({ ...sound, ...changes })).toEqual(expected);
});

it("the lines that the last attempt teaches stand in no message before it", async () => {
  const { messages, taught } = await lastAttempt();
  const prompt = messages
    .map(({ content }) => content)
    .join("\n")
    .split("\n");
  expect(taught.size).toBe(12);
  expect(prompt.filter((line) => taught.has(line))).toEqual([]);
  expect(messages.map(({ role }) => role)).toEqual(["user", "assistant", "user", "assistant", "user"]);
  expect(messages.at(-1).content).toContain("5 of 7 checks passed");
});

it("refuses an option that it does not have", () => {
  const demo = path.join(ROOT, "scripts", "demo.mjs");
  const { status, stderr } = spawnSync(process.execPath, [demo, "--task"], { encoding: "utf8" });
  expect([status, stderr]).toEqual([2, "npm run demo takes --tasks, --runner ray, or nothing, not --task.\n"]);
});

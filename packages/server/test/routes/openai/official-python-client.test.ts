import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { loadConfig } from "../../../src/config/load.js";
import { findRepoRoot, readSetup, type Setup } from "../../../src/config/setup.js";
import { startServer } from "../../../src/server.js";
import { MODEL, makeFolder, startService } from "../../support/service.js";

const MINUTES = 60_000;
const script = (name: string): string => fileURLToPath(new URL(`../../fixtures/clients/${name}`, import.meta.url));
const JSONL = `${JSON.stringify({
  messages: [
    { role: "user", content: "What about gates?" },
    { role: "assistant", content: "All about gates." },
  ],
})}\n`;

const setup = (): Setup => {
  const found = readSetup(findRepoRoot());
  if (found === null) throw new Error("run npm run setup -- --dev first: this test runs the Python package");
  return found;
};

/** What the script saw; it fails with its traceback. */
const fineTune = async (url: string, model: string) => {
  const file = join(makeFolder(), "training.jsonl");
  writeFileSync(file, JSONL);
  const { stdout } = await promisify(execFile)(setup().python, [script("fine_tune.py"), `${url}/v1`, model, file]);
  return JSON.parse(stdout);
};

test("the official Python package drives a whole fine-tune", { timeout: 2 * MINUTES }, async () => {
  const seen = await fineTune((await startService()).url, MODEL);
  expect(seen).toMatchObject({
    files: [true],
    content: JSONL,
    status: "succeeded",
    adapter_id: expect.stringMatching(/^ft-py-[0-9a-f]{8}$/),
    error: null,
    checkpoints: [seen.adapter_id],
    text: "adapter: What about gates?",
    tokens: 4,
    refused: "n",
    deleted: true,
  });
  expect(seen.events.slice(0, 2)).toEqual([
    "The job has successfully completed",
    `New fine-tuned model created: ${seen.adapter_id}`,
  ]);
});

test("the official Python package calls tools, whole and streamed", { timeout: 2 * MINUTES }, async () => {
  const call = '<tool_call>\n{"name": "bash", "arguments": {"command": "ls"}}\n</tool_call>';
  const { url } = await startService({ behaviour: { script: [`So:\n${call}`, "Done.", `So:\n${call}`] } });
  const { stdout } = await promisify(execFile)(setup().python, [script("talk.py"), `${url}/v1`, MODEL]);
  const said = ["completed", "So:", ["message", "function_call"]];
  expect(JSON.parse(stdout)).toEqual({
    chat: [
      ["tool_calls", "So:", ['{"command": "ls"}']],
      ["stop", "Done.", []],
    ],
    responses: [said, said],
  });
});

test("and on the default model, with the real trainer", { timeout: 12 * MINUTES }, async () => {
  const { default_model: model } = setup();
  // The process of the other engine is there only once it is built.
  const flags = { data_dir: makeFolder(), port: 0, log_level: "silent", engine: "transformers" };
  const server = await startServer(loadConfig({ flags }));
  onTestFinished(() => server.close(0));
  const seen = await fineTune(server.url, model);
  expect(seen).toMatchObject({ status: "succeeded", error: null, refused: "n" });
  expect(seen.tokens).toBeGreaterThan(0);
  expect(seen.text.length).toBeGreaterThan(0);
});

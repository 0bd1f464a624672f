import { existsSync } from "node:fs";
import path from "node:path";
import { Interrupted } from "../process/failures.mjs";
import { build } from "./build.mjs";
import { prepareEnvironment } from "./environment.mjs";
import { findPython } from "./find-python.mjs";
import { prepareLlamaCpp } from "./llama-cpp.mjs";
import { withLock } from "./lock.mjs";
import { modelFolder, prepareModel, removeDrafts } from "./model.mjs";
import { installNpmPackages } from "./npm.mjs";
import { pythonEnv } from "./python-env.mjs";
import { prepareRay } from "./ray.mjs";
import { readiness, writeSetup } from "./ready.mjs";
import { together } from "./together.mjs";
import { prepareTools } from "./tools.mjs";

const STEPS = {
  installNpmPackages,
  build,
  findPython,
  prepareTools,
  prepareEnvironment,
  prepareModel,
  prepareLlamaCpp,
  prepareRay,
};

/** What each part fetches, about, on Linux. */
const DOWNLOADS = {
  npm: "npm packages (150 MB)",
  python: "Python packages with torch (2.5 GB) and the default model (100 MB)",
  llamaCpp: "llama.cpp (100 MB)",
};

/**
 * Makes the checkout in `root` ready: npm packages and build beside the Python environment and the default model.
 * Resolves with whether there was anything to do. `steps` are the parts that start programs.
 */
export async function setUp({ root, cache, env, dev, llamaCpp = true, ray = false, signal, reporter, steps = STEPS }) {
  if (allReady(readiness({ root, cache, dev, llamaCpp, ray }))) return false;
  const onWait = (pid) => reporter.note(`Another set-up is at work${pid ? ` (process ${pid})` : ""}; waiting for it to finish.`);
  return await withLock({ file: path.join(root, ".imprint", "setup.lock"), signal, onWait }, async () => {
    const ready = readiness({ root, cache, dev, llamaCpp, ray });
    if (allReady(ready)) return false;
    const parts = Object.entries(DOWNLOADS).filter(([name]) => !ready[name]);
    if (parts.length > 0)
      reporter.note(`To download, where ${cache} does not have it: ${parts.map(([, part]) => part).join(", ")}.`);
    await together(signal, [
      (linked) => javascript({ root, env, ready, signal: linked, reporter, steps }),
      (linked) =>
        ready.python && ready.ray
          ? undefined
          : withLock({ file: path.join(cache, ".lock"), signal: linked, onWait }, () =>
              python({ root, cache, env: pythonEnv(env), dev, ready, signal: linked, reporter, steps }),
            ),
    ]);
    return true;
  });
}

const allReady = (ready) => Object.values(ready).every(Boolean);

async function javascript({ root, env, ready, signal, reporter, steps }) {
  if (ready.npm && ready.build && ready.llamaCpp) return;
  await reported(reporter.task("Node"), "packages installed and built", async (task) => {
    if (!ready.npm) await steps.installNpmPackages({ root, env, signal, task });
    if (!(ready.npm && ready.build)) await steps.build({ root, env, signal, task });
    if (!ready.llamaCpp) await steps.prepareLlamaCpp({ root, env, signal, task });
  });
}

async function python({ root, cache, env, dev, ready, signal, reporter, steps }) {
  await reported(reporter.task("Python"), "environment and default model ready", async (task) => {
    try {
      task.update("looking for Python");
      const found = await steps.findPython({ env, signal });
      const tools = await steps.prepareTools({ root, cache, python: found, env, signal, task });
      const model = modelFolder({ root, cache });
      const interpreter = await steps.prepareEnvironment({ root, cache, python: found, tools, dev, signal, task });
      if (!existsSync(model)) await steps.prepareModel({ root, folder: model, python: interpreter, tools, env, signal, task });
      writeSetup(root, { python: interpreter, pip: tools.pip[0], model });
      if (!ready.ray) await steps.prepareRay({ root, cache, python: found, tools, signal, task });
    } finally {
      removeDrafts(cache);
    }
  });
}

async function reported(task, outcome, work) {
  try {
    await work(task);
    task.done(outcome);
  } catch (error) {
    task.fail(error instanceof Interrupted ? "stopped" : "see below");
    throw error;
  }
}

import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const PROBE = new URL("probe.mjs", import.meta.url).href;
const TRAINER = fileURLToPath(new URL("../../../packages/server/test/fixtures/workers/trainer.mjs", import.meta.url));
const MODEL = "bench-model";

/** A program that passes for the interpreter, and runs the trainer of the service's tests, which needs no model. */
function makeInterpreter(folder) {
  const file = path.join(folder, "python");
  const run = `process.argv.splice(2, Infinity, "{}");\nimport(${JSON.stringify(pathToFileURL(TRAINER).href)});\n`;
  writeFileSync(file, `#!${process.execPath}\n${run}`, { mode: 0o755 });
  return file;
}

/**
 * The bundled service of a clone, as a process of its own with the probe in it, over a data folder that `fill` may write
 * sessions into. `measured(work)` gives what the probe saw while `work` ran.
 */
export async function startService({ root, fill }) {
  const folder = mkdtempSync(path.join(tmpdir(), "imprint-loop-"));
  const dataDir = path.join(folder, "data");
  const [model, sessions] = [path.join(dataDir, "models", MODEL), path.join(dataDir, "sessions")];
  for (const made of [model, sessions]) mkdirSync(made, { recursive: true });
  for (const file of ["config.json", "model.safetensors"]) writeFileSync(path.join(model, file), "{}");
  fill(sessions);
  const child = spawn(process.execPath, ["--import", PROBE, path.join(root, "packages/server/bundle/main.js")], {
    stdio: ["ignore", "pipe", "inherit", "ipc"],
    env: {
      PATH: process.env.PATH,
      HOME: folder,
      IMPRINT_DATA_DIR: dataDir,
      IMPRINT_PORT: "0",
      IMPRINT_BASE_MODEL: MODEL,
      IMPRINT_PYTHON: makeInterpreter(folder),
      IMPRINT_ENGINE: "transformers",
      IMPRINT_LOG_LEVEL: "silent",
    },
  });
  const [line] = await once(child.stdout, "data");
  const measured = async (work) => {
    child.send("begin");
    await work();
    child.send("end");
    const [loop] = await once(child, "message");
    return loop;
  };
  const stop = async () => {
    child.kill("SIGTERM");
    await once(child, "close");
    rmSync(folder, { recursive: true });
  };
  return { url: /http:\S+/.exec(String(line))[0], measured, stop };
}

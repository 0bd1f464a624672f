import { existsSync, readFileSync, rmSync } from "node:fs";
import path from "node:path";
import { run } from "../process/run.mjs";
import { digest } from "./digest.mjs";
import { requireDisk } from "./disk.mjs";
import { explaining } from "./explain.mjs";
import { inVenv } from "./python-env.mjs";
import { readStamp, writeStamp } from "./stamp.mjs";

/** Ray in an environment of its own, for a head on this machine: the demo and `npm run check-ray`. A cluster has its own. */
const RAY_LOCK = "trainer/requirements-ray.lock";
const RAY_BYTES = 500 * 2 ** 20;
const stampFile = (root) => path.join(root, ".imprint", "ray.json");
const lockKey = (root) => digest(readFileSync(path.join(root, RAY_LOCK), "utf8").replaceAll("\r\n", "\n"));

/** The interpreter of Ray's environment; null where the set-up has not made it. */
export function rayPython(root) {
  const stamp = readStamp(stampFile(root));
  return stamp?.lock === lockKey(root) && existsSync(stamp.python) ? stamp.python : null;
}

export const rayIsDone = (root) => rayPython(root) !== null;

/** Installs Ray by its lock, in the cache. */
export async function prepareRay({ root, cache, python, tools, signal, task }) {
  task.update("Ray");
  const lock = lockKey(root);
  const folder = path.join(cache, `ray-${digest(lock, python.version.slice(0, 2).join("."), process.platform, process.arch)}`);
  const complete = path.join(folder, ".complete");
  if (readStamp(complete)?.lock !== lock || !existsSync(inVenv(folder))) {
    await requireDisk({ folder: cache, needed: RAY_BYTES });
    rmSync(folder, { recursive: true, force: true });
    try {
      await explaining({ tool: "uv", doing: "installing Ray" }, () => install({ root, folder, python, tools, signal }));
    } catch (error) {
      rmSync(folder, { recursive: true, force: true });
      throw error;
    }
    writeStamp(complete, { lock });
  }
  writeStamp(stampFile(root), { lock, python: inVenv(folder) });
}

async function install({ root, folder, python, tools, signal }) {
  const env = { ...tools.uvEnv, UV_PYTHON_DOWNLOADS: "never" };
  const options = { env, signal, name: "uv", cwd: path.join(root, "trainer") };
  await run(tools.uv, ["venv", "--quiet", "--python", python.executable, folder], options);
  // Compiled once: a head is ten programs that import it, and its own time limits for their start are short.
  const only = ["--compile-bytecode", "--require-hashes", "--only-binary", ":all:", "--python", inVenv(folder)];
  await run(tools.uv, ["pip", "sync", ...only, path.join(root, RAY_LOCK)], options);
}

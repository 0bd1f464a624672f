import { existsSync, readFileSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { run } from "../process/run.mjs";
import { digest } from "./digest.mjs";
import { ENVIRONMENT_BYTES, requireDisk } from "./disk.mjs";
import { explaining } from "./explain.mjs";
import { inVenv } from "./python-env.mjs";
import { readStamp, writeStamp } from "./stamp.mjs";
import { uvProgress } from "./uv-progress.mjs";

const RUNTIME = "trainer/requirements.lock";
/** The developers' lock holds only what the runtime one lacks. */
const LOCKS = { runtime: [RUNTIME], dev: [RUNTIME, "trainer/requirements-dev.lock"] };

const lockFiles = (root, kind) => LOCKS[kind].map((file) => path.join(root, file));

/** The hash that an environment's marker must carry to be the one its locks ask for. */
export function lockKey(root, kind) {
  return digest(...lockFiles(root, kind).map((file) => readFileSync(file, "utf8").replaceAll("\r\n", "\n")));
}

/** The kinds that serve a set-up, best first: the developers' environment holds all that the runtime one does. */
export const servingKinds = (dev) => (dev ? ["dev"] : ["dev", "runtime"]);

export function environmentFolder({ root, cache, kind, python, platform = process.platform, arch = process.arch }) {
  return path.join(cache, `python-${digest(lockKey(root, kind), python.version.slice(0, 2).join("."), platform, arch)}`);
}

/** True when the environment in `folder` was finished from this lock and its base interpreter is still there. */
export function isComplete({ root, folder, kind }) {
  return readStamp(path.join(folder, ".complete"))?.lock === lockKey(root, kind) && existsSync(inVenv(folder));
}

/** The interpreter of the pinned environment; makes it with uv where no finished one serves. */
export async function prepareEnvironment({ root, cache, python, tools, dev, signal, task }) {
  for (const kind of servingKinds(dev)) {
    const folder = environmentFolder({ root, cache, kind, python });
    if (isComplete({ root, folder, kind })) return inVenv(folder);
  }
  const kind = dev ? "dev" : "runtime";
  const folder = environmentFolder({ root, cache, kind, python });
  await requireDisk({ folder: cache, needed: ENVIRONMENT_BYTES });
  // A virtual environment cannot be moved: it is made in its place, and counts once the marker stands.
  rmSync(folder, { recursive: true, force: true });
  try {
    await explaining({ tool: "uv", doing: "installing the Python packages" }, () =>
      install({ root, folder, kind, python, tools, signal, task }),
    );
  } catch (error) {
    task.update("removing what was begun");
    rmSync(folder, { recursive: true, force: true });
    throw error;
  }
  writeStamp(path.join(folder, ".complete"), { lock: lockKey(root, kind), kind, python: python.version.join(".") });
  return inVenv(folder);
}

async function install({ root, folder, kind, python, tools, signal, task }) {
  const env = { ...tools.uvEnv, UV_PYTHON_DOWNLOADS: "never" };
  const options = { env, signal, name: "uv", cwd: path.join(root, "trainer") };
  await run(tools.uv, ["venv", "--quiet", "--python", python.executable, folder], options);
  const progress = uvProgress();
  await run(tools.uv, ["pip", "sync", "--require-hashes", "--python", inVenv(folder), ...lockFiles(root, kind)], {
    ...options,
    onLine: (line) => task.update(progress(line)),
  });
}

/** Where environments and models are kept between clones: IMPRINT_CACHE_DIR, else the platform's own cache folder. */
export function cacheFolder({ env = process.env, platform = process.platform, home = os.homedir() } = {}) {
  const at = platform === "win32" ? path.win32 : path.posix;
  if (env.IMPRINT_CACHE_DIR) return at.resolve(env.IMPRINT_CACHE_DIR);
  if (env.XDG_CACHE_HOME && at.isAbsolute(env.XDG_CACHE_HOME)) return at.join(env.XDG_CACHE_HOME, "imprint");
  if (platform === "win32") return at.join(env.LOCALAPPDATA || at.join(home, "AppData", "Local"), "imprint", "cache");
  if (platform === "darwin") return at.join(home, "Library", "Caches", "imprint");
  return at.join(home, ".cache", "imprint");
}

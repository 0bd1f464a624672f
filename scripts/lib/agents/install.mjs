import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import path from "node:path";
import { run } from "../process/run.mjs";
import { digest } from "../setup/digest.mjs";
import { cacheFolder } from "../setup/environment.mjs";
import { explaining } from "../setup/explain.mjs";
import { findPython } from "../setup/find-python.mjs";
import { withLock } from "../setup/lock.mjs";
import { npmCommand } from "../setup/npm.mjs";
import { inVenv, pythonEnv } from "../setup/python-env.mjs";
import { readStamp, writeStamp } from "../setup/stamp.mjs";
import { prepareTools } from "../setup/tools.mjs";

/** The folder of an agent's program. Installs it into the cache where it is not there yet, from its own lock in `scripts/agents`. */
export function installAgent({ name, package: withScript, root, env, signal }) {
  const cache = cacheFolder({ env });
  const locks = path.join(root, "scripts", "agents");
  const python = () => pythonTools({ root, cache, env: pythonEnv(env), signal });
  return withLock({ file: path.join(cache, ".agents-lock"), signal }, () =>
    install({ name, package: withScript, locks, cache, env, signal, python }),
  );
}

/** `python` resolves with `{uv, uvEnv, executable}`; only agents in Python ask for it. */
async function install({ name, package: withScript, locks, cache, env, signal, python }) {
  const from = path.join(locks, name);
  const lock = ["package-lock.json", "requirements.lock"].map((file) => path.join(from, file)).find((file) => existsSync(file));
  const key = digest(readFileSync(lock), process.platform, process.arch, process.versions.node.split(".")[0]);
  const folder = path.join(cache, `agent-${name}-${key}`);
  const isNpm = path.basename(lock) === "package-lock.json";
  const programs = isNpm ? path.join(folder, "node_modules", ".bin") : path.dirname(inVenv(folder));
  if (readStamp(path.join(folder, ".complete")) !== null) return programs;
  rmSync(folder, { recursive: true, force: true });
  try {
    const doing = `installing the agent ${name}`;
    if (isNpm) await explaining({ tool: "npm", doing }, () => fromNpm({ from, folder, withScript, env, signal }));
    else {
      const tools = await python();
      await explaining({ tool: "uv", doing }, () => fromPython({ lock, folder, signal, python: tools }));
    }
  } catch (error) {
    rmSync(folder, { recursive: true, force: true });
    throw error;
  }
  writeStamp(path.join(folder, ".complete"), { agent: name });
  return programs;
}

async function fromNpm({ from, folder, withScript, env, signal }) {
  mkdirSync(folder, { recursive: true });
  for (const file of ["package.json", "package-lock.json"]) copyFileSync(path.join(from, file), path.join(folder, file));
  const [command, ...before] = npmCommand({ env });
  const npm = (...args) => run(command, [...before, ...args], { cwd: folder, env, signal, name: `npm ${args[0]}` });
  // Parts of Cline want a newer Node than the project's; its program brings a runtime of its own.
  await npm("ci", "--ignore-scripts", "--no-engine-strict", "--no-progress", "--no-audit", "--no-fund");
  if (withScript !== undefined) await npm("rebuild", withScript);
}

async function fromPython({ lock, folder, signal, python: { uv, uvEnv, executable } }) {
  const options = { env: { ...uvEnv, UV_PYTHON_DOWNLOADS: "never" }, signal, name: "uv" };
  await run(uv, ["venv", "--quiet", "--python", executable, folder], options);
  await run(uv, ["pip", "sync", "--quiet", "--require-hashes", "--python", inVenv(folder), lock], options);
}

export async function pythonTools({ root, cache, env, signal }) {
  const found = await findPython({ env, signal });
  const { uv, uvEnv } = await prepareTools({ root, cache, python: found, env, signal, task: { update: () => undefined } });
  return { uv, uvEnv, executable: found.executable };
}

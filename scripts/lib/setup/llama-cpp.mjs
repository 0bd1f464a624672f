import path from "node:path";
import { run } from "../process/run.mjs";
import { digest, digestFiles } from "./digest.mjs";
import { explaining } from "./explain.mjs";
import { npmCommand } from "./npm.mjs";
import { readStamp, writeStamp } from "./stamp.mjs";

/** llama.cpp, which answers chats, in its own node_modules. */
const FOLDER = "packages/server/llama-cpp";
const stampFile = (root) => path.join(root, FOLDER, "node_modules", ".imprint-setup.json");

export function llamaCppKey(root, { node = process.versions.node, platform = process.platform, arch = process.arch } = {}) {
  const files = ["package.json", "package-lock.json", "no-gpu/package.json"].map((name) => `${FOLDER}/${name}`);
  return digest(digestFiles(root, files), node.split(".")[0], platform, arch);
}

export const llamaCppIsDone = (root) => readStamp(stampFile(root))?.key === llamaCppKey(root);

/** Installs llama.cpp by its lock. */
export async function prepareLlamaCpp({ root, env, signal, task }) {
  task.update("llama.cpp");
  const [command, ...before] = npmCommand({ env });
  const args = ["ci", "--ignore-scripts", "--no-progress", "--no-audit", "--no-fund"];
  await explaining({ tool: "npm", doing: "installing llama.cpp, which --no-llama-cpp leaves out" }, () =>
    run(command, [...before, ...args], { cwd: path.join(root, FOLDER), env, signal, name: "npm ci" }),
  );
  writeStamp(stampFile(root), { key: llamaCppKey(root) });
}

import { existsSync, readdirSync, readFileSync, realpathSync } from "node:fs";
import path from "node:path";
import { run } from "../process/run.mjs";
import { digest, digestFiles } from "./digest.mjs";
import { explaining } from "./explain.mjs";
import { readStamp, writeStamp } from "./stamp.mjs";

// Inside node_modules, so that removing the packages removes the stamp.
const stampFile = (root) => path.join(root, "node_modules", ".imprint-setup.json");

/** Changes with the lock file, the manifests, npm's settings in the repository, Node's major version or the platform. */
export function npmKey(root, { node = process.versions.node, platform = process.platform, arch = process.arch } = {}) {
  const manifests = readdirSync(path.join(root, "packages"))
    .map((name) => `packages/${name}/package.json`)
    .filter((file) => existsSync(path.join(root, file)));
  return digest(
    digestFiles(root, ["package-lock.json", "package.json", ".npmrc", ...manifests]),
    node.split(".")[0],
    platform,
    arch,
  );
}

export const npmIsDone = (root) => readStamp(stampFile(root))?.key === npmKey(root);

/** `npm ci` from the lock file; npm's own settings apply. */
export async function installNpmPackages({ root, env, signal, task }) {
  const [command, ...before] = npmCommand({ env });
  const total = Object.keys(JSON.parse(readFileSync(path.join(root, "package-lock.json"), "utf8")).packages).length;
  let fetched = 0;
  const onLine = (line) => {
    if (!/http fetch .*\.tgz/.test(line)) return;
    fetched += 1;
    task.update(`npm packages: ${fetched} fetched, at most ${total}`);
  };
  task.update("npm packages");
  const args = ["ci", "--include=dev", "--loglevel=http", "--no-progress", "--no-audit", "--no-fund"];
  await explaining({ tool: "npm", doing: "installing the npm packages" }, () =>
    run(command, [...before, ...args], { cwd: root, env, signal, onLine, name: "npm ci" }),
  );
  writeStamp(stampFile(root), { key: npmKey(root) });
}

/** npm as a Node script where it can be found: Windows starts no .cmd file without a shell. */
export function npmCommand({ env, node = process.execPath, exists = existsSync }) {
  const beside = path.dirname(node);
  const places = [
    env.npm_execpath,
    path.join(beside, "node_modules", "npm", "bin", "npm-cli.js"),
    path.join(beside, "..", "lib", "node_modules", "npm", "bin", "npm-cli.js"),
    ...(env.PATH ?? env.Path ?? "").split(path.delimiter).map((folder) => onPath(path.join(folder, "npm"))),
  ];
  const script = places.find((place) => place && path.basename(place) === "npm-cli.js" && exists(place));
  return script ? [node, script] : ["npm"];
}

function onPath(file) {
  try {
    return realpathSync(file);
  } catch {
    return null;
  }
}

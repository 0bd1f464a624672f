import { existsSync, readdirSync } from "node:fs";
import path from "node:path";
import { bundlesExist } from "../bundle.mjs";
import { run } from "../process/run.mjs";
import { digestFiles, filesBelow } from "./digest.mjs";
import { failingAs } from "./explain.mjs";
import { readStamp, writeStamp } from "./stamp.mjs";

const stampFile = (root) => path.join(root, ".imprint", "build.json");

/** The packages that the command line is built from: all that have a compiler configuration and an entry. */
function packagesOf(root) {
  const has = (name, file) => existsSync(path.join(root, "packages", name, file));
  return readdirSync(path.join(root, "packages")).filter((name) => has(name, "tsconfig.json") && has(name, "src/index.ts"));
}

export function buildKey(root) {
  const sources = packagesOf(root).flatMap((name) => filesBelow(root, `packages/${name}/src`, () => true));
  const settings = packagesOf(root).map((name) => `packages/${name}/tsconfig.json`);
  return digestFiles(root, ["package-lock.json", "tsconfig.base.json", "scripts/lib/bundle.mjs", ...settings, ...sources]);
}

const outputsExist = (root) =>
  packagesOf(root).every((name) => existsSync(path.join(root, "packages", name, "dist", "index.js")));

export const buildIsDone = (root) =>
  readStamp(stampFile(root))?.key === buildKey(root) && outputsExist(root) && bundlesExist(root);

/** `tsc -b` of the command line and all that it imports, and the bundles of the programs. */
export async function build({ root, env, signal, task }) {
  task.update("compiling");
  const key = buildKey(root);
  const force = outputsExist(root) ? [] : ["--force"];
  const tsc = path.join(root, "node_modules", "typescript", "bin", "tsc");
  await failingAs(
    () => "The TypeScript sources do not compile.",
    () => run(process.execPath, [tsc, "-b", ...force, "packages/cli"], { cwd: root, env, signal, name: "tsc -b" }),
  );
  task.update("bundling");
  await failingAs(
    () => "The programs cannot be bundled.",
    () => run(process.execPath, [path.join(root, "scripts", "bundle.mjs")], { cwd: root, env, signal, name: "bundle" }),
  );
  writeStamp(stampFile(root), { key });
}

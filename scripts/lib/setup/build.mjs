import { existsSync, readdirSync } from "node:fs";
import path from "node:path";
import { bundlesExist } from "../bundle.mjs";
import { dashboardExists, dashboardSources } from "../dashboard.mjs";
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
  const scripts = ["scripts/lib/bundle.mjs", "scripts/lib/dashboard.mjs"];
  return digestFiles(root, [
    "package-lock.json",
    "tsconfig.base.json",
    ...scripts,
    ...settings,
    ...sources,
    ...dashboardSources(root),
  ]);
}

const outputsExist = (root) =>
  packagesOf(root).every((name) => existsSync(path.join(root, "packages", name, "dist", "index.js")));

export const buildIsDone = (root) =>
  readStamp(stampFile(root))?.key === buildKey(root) && outputsExist(root) && bundlesExist(root) && dashboardExists(root);

/** `tsc -b` of the command line and all that it imports, the bundles of the programs, and the dashboard. */
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
    () => "The programs or the dashboard cannot be bundled.",
    () => run(process.execPath, [path.join(root, "scripts", "bundle.mjs")], { cwd: root, env, signal, name: "bundle" }),
  );
  writeStamp(stampFile(root), { key });
}

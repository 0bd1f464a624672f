import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";

const git = (root, ...words) => execFileSync("git", words, { cwd: root, encoding: "utf8" }).trim();

/** The version of the Python that the set-up chose; null before the set-up. */
function pythonVersion(root) {
  try {
    const { python } = JSON.parse(readFileSync(path.join(root, ".imprint/setup.json"), "utf8"));
    return execFileSync(python, ["--version"], { encoding: "utf8" }).trim().replace("Python ", "");
  } catch {
    return null;
  }
}

/** Where a figure was taken: no host name and no path, which say nothing about a figure. */
export const machine = (root) => ({
  cpu: os.cpus()[0]?.model ?? "unknown",
  cores: os.availableParallelism(),
  memory_gib: Math.round(os.totalmem() / 2 ** 30),
  platform: `${os.platform()} ${os.arch()}`,
  node: process.versions.node,
  python: pythonVersion(root),
});

/** The commit that was measured, and whether the tree differs from it; results of earlier runs do not count. */
export const commit = (root) => ({
  commit: git(root, "rev-parse", "--short=12", "HEAD"),
  dirty: git(root, "status", "--porcelain", "--", ".", ":!bench/results") !== "",
});

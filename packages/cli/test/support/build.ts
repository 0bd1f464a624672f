import { execFile } from "node:child_process";
import { mkdirSync, rmSync, statSync, watch } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const ROOT = fileURLToPath(new URL("../../../../", import.meta.url));
const LOCK = path.join(ROOT, "node_modules", ".cache", "imprint-cli-test-build");
const STALE_MS = 120_000;

export const MAIN = path.join(ROOT, "packages", "cli", "bundle", "main.js");

function take(): boolean {
  try {
    mkdirSync(path.dirname(LOCK), { recursive: true });
    mkdirSync(LOCK);
    return true;
  } catch {
    const age = Date.now() - (statSync(LOCK, { throwIfNoEntry: false })?.mtimeMs ?? 0);
    if (age > STALE_MS) rmSync(LOCK, { recursive: true, force: true });
    return false;
  }
}

const released = (): Promise<void> =>
  new Promise((resolve) => {
    const watcher = watch(path.dirname(LOCK), () => done());
    const timer = setTimeout(() => done(), STALE_MS);
    const done = (): void => {
      clearTimeout(timer);
      watcher.close();
      resolve();
    };
    if (statSync(LOCK, { throwIfNoEntry: false }) === undefined) done();
  });

let built: Promise<void> | undefined;
/** Builds what the command runs from, once a process of tests: a child process reads the bundle, and no stale build may pass. */
export const build = (): Promise<void> => {
  built ??= buildAlone();
  return built;
};

/** One process of tests builds at a time. */
async function buildAlone(): Promise<void> {
  while (!take()) await released();
  try {
    const node = (...args: readonly string[]) => promisify(execFile)(process.execPath, args, { cwd: ROOT });
    await node(path.join(ROOT, "node_modules", "typescript", "bin", "tsc"), "-b", "packages/cli");
    await node(path.join(ROOT, "scripts", "bundle.mjs"));
  } catch (error) {
    throw new Error(`the build failed:\n${error instanceof Error && "stdout" in error ? String(error.stdout) : String(error)}`);
  } finally {
    rmSync(LOCK, { recursive: true, force: true });
  }
}

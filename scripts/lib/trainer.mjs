// Runs a module of the trainer with the Python that the set-up made.
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { delimiter, join, resolve } from "node:path";

const root = resolve(import.meta.dirname, "..", "..");

/** Ends the process with a sentence: wrong usage, or nothing to run with. */
export function refuse(sentence) {
  console.error(sentence);
  process.exit(2);
}

/** A folder as the user wrote it: npm runs scripts at the root, paths count from where the user stood. */
export const userPath = (path) => resolve(process.env.INIT_CWD ?? process.cwd(), path);

/** `python -m ...args`, its output passed through; ends the process with its exit code. */
export function runTrainer(args) {
  const result = spawnSync(findPython(), ["-m", ...args], { stdio: "inherit", env: trainerEnvironment() });
  if (result.error) refuse(`Python could not be started: ${result.error.message}`);
  process.exit(result.status ?? 1);
}

/** What a Python needs to find the trainer, and what measures it. */
export const trainerEnvironment = () => ({
  ...process.env,
  PYTHONPATH: [join(root, "trainer", "src"), join(root, "bench", "python"), process.env.PYTHONPATH]
    .filter(Boolean)
    .join(delimiter),
});

/** The folder of the default model that the set-up made. */
export function defaultModel() {
  const { default_model: name, models } = readSetup();
  return models?.[name] ?? refuse("There is no default model yet: run npm run setup, or name a folder with --base.");
}

export function findPython() {
  const python = process.env.IMPRINT_PYTHON ?? readSetup().python;
  return typeof python === "string" && python !== ""
    ? python
    : refuse("There is no Python yet: run npm run setup, or set IMPRINT_PYTHON.");
}

/** What the set-up wrote down; nothing where it has not run. */
export function readSetup() {
  const file = join(root, ".imprint", "setup.json");
  if (!existsSync(file)) return {};
  try {
    return JSON.parse(readFileSync(file, "utf8"));
  } catch {
    return refuse(".imprint/setup.json cannot be read: run npm run setup again.");
  }
}

import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import path from "node:path";
import { promisify } from "node:util";
import type { ErrorCode } from "@imprint/contracts";
import { type Config, commandEnvironment } from "@imprint/server/configuration";
import { CommandError } from "../errors.js";

const LONGEST_OUTPUT = 64 * 1024 * 1024;

const preparedPython = ({ settings: { python } }: Config): string => {
  if (python !== null) return python;
  throw new CommandError("No Python is prepared for the trainer: imprint setup installs it.", "WORKER_START_FAILED");
};

const notPython = (python: string): CommandError =>
  new CommandError(`The trainer's Python did not run: ${python}. imprint doctor says what is missing.`);

interface RunOptions {
  /** Whether it may reach the model hub. Default: false. */
  readonly online?: boolean;
}

/** What the trainer's Python sees. */
export const trainerEnvironment = (
  { repoRoot }: Pick<Config, "repoRoot">,
  { online = false }: RunOptions = {},
): NodeJS.ProcessEnv =>
  commandEnvironment({ source: process.env, online, extra: { PYTHONPATH: path.join(repoRoot, "trainer", "src") } });

/**
 * Runs a module of the trainer that says on this terminal how far it is; answers with the JSON document that it printed. Throws a
 * CommandError with the error that it printed instead. An interrupt reaches it as well.
 */
export async function followTrainer(config: Config, module: string, args: readonly string[]): Promise<unknown> {
  const env = trainerEnvironment(config);
  const child = spawn(preparedPython(config), ["-m", module, ...args], { env, stdio: ["ignore", "pipe", "inherit"] });
  let said = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => (said += text));
  const code = await ended(child);
  if (code === 0) return JSON.parse(said);
  if (!said.startsWith("{")) throw new CommandError(`The trainer ended with ${code}.`, "TRAINER_ERROR");
  const { error } = JSON.parse(said) as { readonly error: { readonly code: ErrorCode; readonly message: string } };
  throw new CommandError(error.message, error.code);
}

/** The exit code. An interrupt is the child's to answer. */
async function ended(child: ChildProcess): Promise<number> {
  const ignore = (): void => undefined;
  process.on("SIGINT", ignore);
  try {
    const [code] = (await once(child, "close")) as [number | null];
    return code ?? 1;
  } finally {
    process.off("SIGINT", ignore);
  }
}

/** Runs a module of the trainer on this terminal; answers with its exit code. An interrupt reaches it as well. */
export async function showTrainer(config: Config, module: string, args: readonly string[]): Promise<number> {
  return ended(spawn(preparedPython(config), ["-m", module, ...args], { env: trainerEnvironment(config), stdio: "inherit" }));
}

/** Runs a module of the trainer to its end; answers with the JSON documents it printed. Throws a CommandError with what it said instead. */
export async function runTrainer(
  config: Config,
  module: string,
  args: readonly string[],
  options: RunOptions = {},
): Promise<readonly unknown[]> {
  const python = preparedPython(config);
  const env = trainerEnvironment(config, options);
  try {
    const running = promisify(execFile)(python, ["-m", module, ...args], { env, maxBuffer: LONGEST_OUTPUT });
    running.child.stdin?.end();
    const { stdout } = await running;
    return stdout
      .split("\n")
      .filter((line) => line.startsWith("{"))
      .map((line): unknown => JSON.parse(line));
  } catch (error) {
    const said = error instanceof Error && "stderr" in error ? String(error.stderr).trim() : "";
    throw said === "" ? notPython(python) : new CommandError(said);
  }
}

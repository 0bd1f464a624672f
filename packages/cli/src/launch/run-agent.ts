import { spawn } from "node:child_process";
import { once } from "node:events";
import { constants } from "node:os";
import { UsageError } from "../errors.js";
import type { Agent } from "./agents.js";

/** What ends an agent when it ends this command. Ctrl-C reaches both by itself, and the agent decides what it means. */
const PASSED_ON = ["SIGTERM", "SIGHUP"] as const;

/** Runs an agent on this terminal; answers with its exit code. Throws a UsageError for one that is not installed. */
export async function runAgent(
  { program, install }: Pick<Agent, "program" | "install">,
  { args, env }: { readonly args: readonly string[]; readonly env: NodeJS.ProcessEnv },
): Promise<number> {
  const ignore = (): void => undefined;
  process.on("SIGINT", ignore);
  const child = spawn(program, args, { env, stdio: "inherit" });
  const passOn = (signal: NodeJS.Signals): void => void child.kill(signal);
  for (const signal of PASSED_ON) process.on(signal, passOn);
  try {
    const [code, signal] = (await once(child, "exit")) as [number | null, NodeJS.Signals | null];
    return code ?? 128 + (signal === null ? 0 : constants.signals[signal]);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
    throw new UsageError(`${program} is not installed, or not on the PATH: ${install}`);
  } finally {
    process.off("SIGINT", ignore);
    for (const signal of PASSED_ON) process.off(signal, passOn);
  }
}

import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { onTestFinished } from "vitest";
import { MAIN } from "./build.js";

export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Running {
  readonly child: ChildProcessWithoutNullStreams;
  readonly ended: Promise<Ended>;
  /** Resolves when standard output and standard error together hold the text. */
  said(text: string): Promise<void>;
}

/** Starts the real command as a child process. It sees the given variables and nothing of Imprint's from here. */
export function start(args: readonly string[], env: Readonly<Record<string, string>> = {}, cwd?: string): Running {
  const { PATH = "", HOME = "", NODE_OPTIONS = "" } = process.env;
  const child = spawn(process.execPath, [MAIN, ...args], { cwd, env: { PATH, HOME, NODE_OPTIONS, ...env } });
  onTestFinished(() => void child.kill("SIGKILL"));
  let stdout = "";
  let stderr = "";
  const waiting = new Set<() => void>();
  const hear = (): void => {
    for (const look of waiting) look();
  };
  child.stdout.on("data", (chunk) => {
    stdout += chunk;
    hear();
  });
  child.stderr.on("data", (chunk) => {
    stderr += chunk;
    hear();
  });
  const ended = new Promise<Ended>((resolve) => child.once("close", (code) => resolve({ code, stdout, stderr })));
  const said = (text: string): Promise<void> =>
    new Promise((resolve, reject) => {
      const look = (): void => {
        if (`${stdout}${stderr}`.includes(text)) resolve();
      };
      waiting.add(look);
      look();
      void ended.then(({ code }) => reject(new Error(`ended with ${code} without saying "${text}":\n${stdout}\n${stderr}`)));
    });
  return { child, ended, said };
}

/** Runs the real command to its end. */
export function imprint(
  args: readonly string[],
  { env = {}, input = "", cwd }: { env?: Readonly<Record<string, string>>; input?: string; cwd?: string } = {},
): Promise<Ended> {
  const { child, ended } = start(args, env, cwd);
  child.stdin.end(input);
  return ended;
}

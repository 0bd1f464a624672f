import type { ChildProcessWithoutNullStreams, SpawnOptions } from "node:child_process";
import type { Readable, Writable } from "node:stream";
import type { Clock } from "../../common/clock.js";

export type Spawn = (file: string, args: readonly string[], options: SpawnOptions) => ChildProcessWithoutNullStreams;

/** How a process came to its end. */
export type ProcessEnd =
  | { readonly type: "not_started"; readonly cause: NodeJS.ErrnoException }
  | { readonly type: "exited"; readonly code: number | null; readonly signal: NodeJS.Signals | null };

export interface WorkerProcess {
  readonly pid: number | undefined;
  readonly stdin: Writable | undefined;
  readonly stdout: Readable | undefined;
  readonly stderr: Readable | undefined;
  /** Signals the process and everything it started. Does nothing once it has ended. */
  kill(signal: NodeJS.Signals): void;
  /** Resolves when the process is gone and all it wrote has been read. Never rejects. */
  readonly ended: Promise<ProcessEnd>;
}

interface StartOptions {
  readonly file: string;
  readonly args: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  readonly spawn: Spawn;
  readonly clock: Clock;
}

const GROUPS = process.platform !== "win32"; // Windows has no process groups to signal
const LAST_WORDS_MS = 1000; // for pipes that a runaway descendant still holds open

/** Starts a program without a shell, in a process group of its own. */
export function startProcess({ file, args, env, spawn, clock }: StartOptions): WorkerProcess {
  let child: ChildProcessWithoutNullStreams;
  try {
    child = spawn(file, args, { env, shell: false, detached: GROUPS, windowsHide: true, stdio: ["pipe", "pipe", "pipe"] });
  } catch (cause) {
    return notStarted(cause as NodeJS.ErrnoException);
  }
  const { pid, stdin, stdout, stderr } = child;
  let over = false;

  const kill = (signal: NodeJS.Signals): void => {
    if (over || pid === undefined) return;
    try {
      if (GROUPS) process.kill(-pid, signal);
      else child.kill(signal);
    } catch {
      // Nobody is left in the group.
    }
  };

  const ended = new Promise<ProcessEnd>((resolve) => {
    child.on("error", (cause) => {
      if (pid === undefined) resolve({ type: "not_started", cause });
    });
    child.once("exit", (code, signal) => {
      kill("SIGKILL"); // what it started and left behind
      over = true;
      const finish = (): void => {
        disarm();
        for (const stream of [stdin, stdout, stderr]) stream.destroy();
        resolve({ type: "exited", code, signal });
      };
      const disarm = clock.after(LAST_WORDS_MS, finish);
      child.once("close", finish);
    });
  });
  stdin.on("error", () => {}); // EPIPE: the exit says it better
  return { pid, stdin, stdout, stderr, kill, ended };
}

function notStarted(cause: NodeJS.ErrnoException): WorkerProcess {
  const ended = Promise.resolve<ProcessEnd>({ type: "not_started", cause });
  return { pid: undefined, stdin: undefined, stdout: undefined, stderr: undefined, kill: () => {}, ended };
}

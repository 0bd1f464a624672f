import type { ChildProcessWithoutNullStreams, SpawnOptions } from "node:child_process";
import type { Readable, Writable } from "node:stream";
import type { Clock } from "../../common/clock.js";

export type Spawn = (file: string, args: readonly string[], options: SpawnOptions) => ChildProcessWithoutNullStreams;

/** How a process came to its end. */
export type ProcessEnd =
  | { readonly type: "not_started"; readonly cause: NodeJS.ErrnoException }
  | { readonly type: "exited"; readonly code: number | null; readonly signal: NodeJS.Signals | null };

/** A process that speaks the worker protocol, on this machine or on a cluster. */
export interface WorkerProcess {
  /** Its program, for messages. */
  readonly program: string;
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
  readonly killOnExit: KillOnExit;
  readonly clock: Clock;
}
const GROUPS = process.platform !== "win32"; // Windows has no process groups to signal
const LAST_WORDS_MS = 1000; // for pipes that a runaway descendant still holds open
/** Starts a program without a shell, in a process group of its own, which ends with this process. */
export function startProcess({ file, args, env, spawn, killOnExit, clock }: StartOptions): WorkerProcess {
  let child: ChildProcessWithoutNullStreams;
  try {
    child = spawn(file, args, { env, shell: false, detached: GROUPS, windowsHide: true, stdio: ["pipe", "pipe", "pipe"] });
  } catch (cause) {
    return notStarted(file, cause as NodeJS.ErrnoException);
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

  const forget = killOnExit.add(() => kill("SIGKILL"));
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
  void ended.then(forget);
  stdin.on("error", () => {}); // EPIPE: the exit says it better
  return { program: file, pid, stdin, stdout, stderr, kill, ended };
}

function notStarted(program: string, cause: NodeJS.ErrnoException): WorkerProcess {
  const ended = Promise.resolve<ProcessEnd>({ type: "not_started", cause });
  return { program, pid: undefined, stdin: undefined, stdout: undefined, stderr: undefined, kill: () => {}, ended };
}

interface TerminateOptions {
  readonly process: WorkerProcess;
  readonly graceMs: number;
  readonly clock: Clock;
}

/** Closes stdin and sends TERM, then KILL after the grace period, both to the whole group. Resolves when the process is gone. */
export async function terminate({ process, graceMs, clock }: TerminateOptions): Promise<void> {
  process.stdin?.end();
  process.kill(graceMs > 0 ? "SIGTERM" : "SIGKILL");
  const disarm = clock.after(graceMs, () => process.kill("SIGKILL"));
  await process.ended;
  disarm();
}

export interface KillOnExit {
  /** Calls `kill` if this process ends before the answer is called. */
  add(kill: () => void): () => void;
}

/** The last resort when the service ends without closing: an uncaught error, process.exit. Listens only while there is something to kill. */
export function createKillOnExit(): KillOnExit {
  const kills = new Set<() => void>();
  const killAll = (): void => {
    for (const kill of kills) kill();
  };
  return {
    add(kill) {
      if (kills.size === 0) process.on("exit", killAll);
      kills.add(kill);
      return () => {
        if (kills.delete(kill) && kills.size === 0) process.off("exit", killAll);
      };
    },
  };
}

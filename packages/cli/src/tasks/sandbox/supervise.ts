import type { ChildProcess } from "node:child_process";
import { constants } from "node:os";
import type { Readable } from "node:stream";
import { setTimeout } from "node:timers/promises";
import type { SandboxEnd, SandboxRequest } from "../sandbox.js";
import { bytesBelow } from "./disk.js";
import { usageBelow } from "./processes.js";

export interface Supervised {
  readonly child: ChildProcess;
  /** The process below which all of it runs; null while it is not known, or where its limits are another's to keep. */
  readonly root: () => number | null;
  /** Ends all of it at once. */
  readonly kill: () => void;
  /** Called when the child has ended: resolves when nothing that it started runs. */
  readonly gone: () => Promise<void>;
}

const TAIL = 64 * 1024;
const LOOK_MS = 100; // a hog gets some hundred MB in it
const DISK_MS = 1_000;
/** What a process that escaped its group can delay the end by. */
const CLOSE_MS = 1_000;

/** The last of what a stream says. */
function tailOf(stream: Readable | null): () => string {
  let kept = Buffer.alloc(0);
  stream?.on("data", (chunk: Buffer) => {
    const all = Buffer.concat([kept, chunk]);
    kept = all.length > 2 * TAIL ? Buffer.from(all.subarray(-TAIL)) : all;
  });
  return () => kept.subarray(-TAIL).toString("utf8");
}

/** Waits for the end of what was started, and brings it about where a limit is passed or the signal says so. */
export async function supervise({ child, root, kill, gone }: Supervised, request: SandboxRequest): Promise<SandboxEnd> {
  const { limits, signal, workspace } = request;
  const [stdout, stderr] = [tailOf(child.stdout), tailOf(child.stderr)];
  let stopped: SandboxEnd["stopped"] = null;
  const stop = (why: SandboxEnd["stopped"]): void => {
    stopped ??= why;
    kill();
  };
  const closed = new Promise((resolve) => child.once("close", resolve));
  const ended = new Promise<number>((resolve, reject) => {
    child.once("error", reject);
    child.once("exit", (code, name) => resolve(code ?? 128 + (name === null ? 0 : constants.signals[name])));
  });
  const onAbort = (): void => stop("aborted");
  signal?.addEventListener("abort", onAbort);
  if (signal?.aborted) onAbort();
  const isOver = new AbortController();
  const seconds = setInterval(() => stop("seconds"), limits.seconds * 1000);
  const looks = setInterval(() => {
    const pid = root();
    if (pid === null) return;
    const { processes, bytes } = usageBelow(pid, limits.processes);
    if (processes > limits.processes) stop("processes");
    else if (bytes > limits.memoryMb * 2 ** 20) stop("memory");
  }, LOOK_MS);
  const disk = watchDisk(workspace, 4 * limits.fileMb * 2 ** 20, isOver.signal, () => stop("disk"));
  try {
    const code = await ended;
    await gone();
    await Promise.race([closed, setTimeout(CLOSE_MS, undefined, { signal: isOver.signal }).catch(() => undefined)]);
    return { code: stopped === null ? code : null, stopped, stdout: stdout(), stderr: stderr() };
  } finally {
    signal?.removeEventListener("abort", onAbort);
    clearInterval(seconds);
    clearInterval(looks);
    isOver.abort();
    await disk;
    child.stdout?.destroy();
    child.stderr?.destroy();
  }
}

/** Measures a folder again and again, until the signal, and says when it has grown by more than `bytes`. */
async function watchDisk(folder: string, bytes: number, isOver: AbortSignal, onFull: () => void): Promise<void> {
  const before = await bytesBelow(folder, Number.POSITIVE_INFINITY, isOver);
  while (!isOver.aborted) {
    const begun = performance.now();
    if ((await bytesBelow(folder, before + bytes, isOver)) >= before + bytes && !isOver.aborted) return onFull();
    await setTimeout(Math.max(DISK_MS, 10 * (performance.now() - begun)), undefined, { signal: isOver }).catch(() => undefined);
  }
}

import { spawn } from "node:child_process";
import { once } from "node:events";
import type { SandboxEnd, SandboxRequest } from "../sandbox.js";

const KEPT = 64 * 1024;

/** Runs a command to its end, or to that of its time; what it started ends with its process group. */
export async function spawnWithin(
  [program, ...args]: readonly [string, ...string[]],
  { limits, signal, workspace }: SandboxRequest,
  env: Readonly<Record<string, string>>,
): Promise<SandboxEnd> {
  signal?.throwIfAborted();
  const child = spawn(program, args, { env, cwd: workspace, stdio: ["ignore", "pipe", "pipe"], detached: true });
  let stopped: SandboxEnd["stopped"] = null;
  const stop = (why: SandboxEnd["stopped"]): void => {
    stopped ??= why;
    if (child.pid === undefined) return;
    try {
      process.kill(-child.pid, "SIGKILL");
    } catch {
      // It has ended.
    }
  };
  const timer = setTimeout(() => stop("seconds"), limits.seconds * 1000);
  const onAbort = (): void => stop("aborted");
  signal?.addEventListener("abort", onAbort);
  const said = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"] as const)
    child[name].setEncoding("utf8").on("data", (text: string) => {
      said[name] = (said[name] + text).slice(-KEPT);
    });
  try {
    const [code] = (await once(child, "close")) as [number | null];
    return { code: stopped === null ? code : null, stopped, ...said };
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", onAbort);
  }
}

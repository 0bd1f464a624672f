import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { CommandFailure, Interrupted } from "./failures.mjs";

const GRACE_MS = 3000;

/** Ends a child and everything it started: TERM to its process group, KILL after a grace period. */
function endTree(child) {
  if (child.pid === undefined) return;
  if (process.platform === "win32") {
    spawn("taskkill", ["/pid", String(child.pid), "/T", "/F"], { stdio: "ignore" }).on("error", () => child.kill());
    return;
  }
  send(child.pid, "SIGTERM");
  const timer = setTimeout(() => send(child.pid, "SIGKILL"), GRACE_MS);
  child.once("close", () => {
    clearTimeout(timer);
    send(child.pid, "SIGKILL");
  });
}

function send(group, signal) {
  try {
    process.kill(-group, signal);
  } catch (error) {
    if (error.code !== "ESRCH") throw error;
  }
}

const KEPT_LINES = 400;

/**
 * Runs a program without a shell, in a process group of its own, and resolves with its standard output.
 * `onLine` sees every line of both streams. An aborted signal or the time limit ends the whole group.
 */
export function run(command, args, { cwd, env = process.env, signal, onLine, timeoutMs = null, name = command } = {}) {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(new Interrupted());
    const child = spawn(command, args, { cwd, env, stdio: ["ignore", "pipe", "pipe"], detached: process.platform !== "win32" });
    const kept = [];
    const stdout = [];
    let timedOut = false;
    const abort = () => endTree(child);
    const timer =
      timeoutMs === null
        ? null
        : setTimeout(() => {
            timedOut = true;
            endTree(child);
          }, timeoutMs);
    signal?.addEventListener("abort", abort, { once: true });

    const keep = (line) => {
      kept.push(line);
      if (kept.length > KEPT_LINES) kept.shift();
      onLine?.(line);
    };
    createInterface({ input: child.stdout }).on("line", (line) => {
      stdout.push(line);
      keep(line);
    });
    createInterface({ input: child.stderr }).on("line", keep);

    const settle = (then) => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", abort);
      then();
    };
    child.on("error", (error) =>
      settle(() => reject(new CommandFailure({ command: name, code: error.code, output: error.message }))),
    );
    child.on("close", (code, ended) =>
      settle(() => {
        const output = kept.join("\n");
        if (signal?.aborted) reject(new Interrupted());
        else if (timedOut) reject(new CommandFailure({ command: name, timedOutMs: timeoutMs, output }));
        else if (code !== 0)
          reject(new CommandFailure({ command: name, code, signal: ended, output, stdout: stdout.join("\n") }));
        else resolve({ stdout: stdout.join("\n"), output });
      }),
    );
  });
}

import { spawn } from "node:child_process";

const GRACE_MS = 3000;

/** Ends a child and everything it started: TERM to its process group, KILL after a grace period. */
export function endTree(child) {
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

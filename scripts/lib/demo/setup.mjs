import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";

const SETUP = fileURLToPath(new URL("../../setup.mjs", import.meta.url));

/** Runs the set-up as it would run by itself. Resolves with whether all is ready; it has said why not. */
export function runSetup(signal, options = []) {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [SETUP, ...options], { stdio: "inherit" });
    const stop = () => child.kill("SIGTERM");
    signal.addEventListener("abort", stop, { once: true });
    child.once("error", () => resolve(false));
    child.once("close", (code) => {
      signal.removeEventListener("abort", stop);
      resolve(code === 0 && !signal.aborted);
    });
  });
}

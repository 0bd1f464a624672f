import { spawn } from "node:child_process";
import { createInterface } from "node:readline";

/**
 * A training in a process of its own (`imprint_bench.training`), which waits before each step. `loaded()` gives
 * what it says once the model is in memory, `step()` runs a step, `end()` waits for its end and gives its peak.
 */
export function contestant({ python, args, env }) {
  const child = spawn(python, ["-m", "imprint_bench.training", ...args], { env, stdio: ["pipe", "pipe", "pipe"] });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  let said = "";
  child.stderr.setEncoding("utf8").on("data", (text) => {
    said = (said + text).slice(-4000);
  });
  child.stdin.on("error", () => {}); // of a process that ended: its next line says so
  const next = async () => {
    const { value, done } = await lines.next();
    if (done) throw new Error(`The trainer ended early. Its last words: ${said.trim().split("\n").at(-1)}`);
    return JSON.parse(value);
  };
  return {
    loaded: next,
    step: () => {
      child.stdin.write("\n");
      return next();
    },
    end: next,
    kill: () => child.kill(),
  };
}

#!/usr/bin/env node
// One recorded session becomes an adapter, with the proof, on this machine; with --tasks, an agent tries six tasks with a base model
// and with an adapter of sessions recorded beside them; with --runner ray, it is trained on a Ray head of this machine. Exit code 1 when anything failed.
import process from "node:process";
import { runSetup } from "./lib/demo/setup.mjs";

const started = performance.now();
const interrupted = new AbortController();
for (const signal of ["SIGINT", "SIGTERM"]) {
  process.on(signal, () => {
    // The second time, nothing is waited for; the service kills its trainer as the process exits.
    if (interrupted.signal.aborted) process.exit(1);
    interrupted.abort();
  });
}

process.exitCode = 1;
const USAGE = "npm run demo takes --tasks, --runner ray, or nothing";
const words = process.argv.slice(2);
const isTasks = words.length === 1 && words[0] === "--tasks";
const onRay = ["--runner ray", "--runner=ray"].includes(words.join(" "));
if (words.length > 0 && !isTasks && !onRay) {
  process.stderr.write(`${USAGE}, not ${words.join(" ")}.\n`);
  process.exitCode = 2;
} else if (await runSetup(interrupted.signal, onRay ? ["--ray"] : [])) {
  // Exists once setup has built the packages.
  const tellers = {
    tasks: async () => (await import("../bench/tasks/demo.mjs")).tellTasks,
    ray: async () => (await import("./lib/demo/ray/story.mjs")).tellOnRay,
    story: async () => (await import("../packages/cli/bundle/demo.js")).tell,
  };
  const tell = await tellers[isTasks ? "tasks" : onRay ? "ray" : "story"]();
  process.exitCode = await tell({ started, signal: interrupted.signal });
}

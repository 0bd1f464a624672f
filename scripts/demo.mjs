#!/usr/bin/env node
// One recorded session becomes an adapter, with the proof, on this machine; with --loop, what an agent is recorded doing is trained,
// and the agent does it with the adapter; with --runner ray, it is trained on a Ray head of this machine. Exit code 1 when anything failed.
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
const USAGE = "npm run demo takes --loop, --runner ray, or nothing";
const words = process.argv.slice(2);
const isLoop = words.length === 1 && words[0] === "--loop";
const onRay = ["--runner ray", "--runner=ray"].includes(words.join(" "));
if (words.length > 0 && !isLoop && !onRay) {
  process.stderr.write(`${USAGE}, not ${words.join(" ")}.\n`);
  process.exitCode = 2;
} else if (await runSetup(interrupted.signal, onRay ? ["--ray"] : [])) {
  // Exists once setup has built the packages.
  const tellers = {
    loop: async () => (await import("./lib/demo/loop/story.mjs")).tellLoop,
    ray: async () => (await import("./lib/demo/ray/story.mjs")).tellOnRay,
    story: async () => (await import("../packages/cli/bundle/demo.js")).tell,
  };
  const tell = await tellers[isLoop ? "loop" : onRay ? "ray" : "story"]();
  process.exitCode = await tell({ started, signal: interrupted.signal });
}

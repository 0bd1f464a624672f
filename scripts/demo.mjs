#!/usr/bin/env node
// One recorded session becomes an adapter, with the proof, on this machine; with --loop, what an agent is recorded doing is trained,
// and the agent does it with the adapter. Exit code 1 when anything failed.
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
const isLoop = process.argv.includes("--loop");
const unknown = process.argv.slice(2).find((word) => word !== "--loop");
if (unknown !== undefined) {
  process.stderr.write(`npm run demo takes --loop or nothing, not ${unknown}.\n`);
  process.exitCode = 2;
} else if (await runSetup(interrupted.signal)) {
  // Exists once setup has built the packages.
  const tell = isLoop ? (await import("./lib/demo/loop/story.mjs")).tellLoop : (await import("./lib/demo/story.mjs")).tell;
  process.exitCode = await tell({ started, signal: interrupted.signal });
}

#!/usr/bin/env node
// One recorded session becomes an adapter, with the proof, on this machine. Exit code 1 when anything failed.
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
if (await runSetup(interrupted.signal)) {
  // Exists once setup has built the packages.
  const { tell } = await import("./lib/demo/story.mjs");
  process.exitCode = await tell({ started, signal: interrupted.signal });
}

#!/usr/bin/env node
// The Ray runner against a real head of this machine: the conformance suite, and what goes wrong. Two gigabytes of memory, minutes.
import { runSetup } from "./lib/demo/setup.mjs";
import { checkRay } from "./lib/ray-check.mjs";

const interrupt = new AbortController();
for (const name of ["SIGINT", "SIGTERM", "SIGHUP"]) process.once(name, () => interrupt.abort());
process.exitCode = 1;
if (await runSetup(interrupt.signal, ["--dev", "--ray"])) {
  process.exitCode = await checkRay({ args: process.argv.slice(2), signal: interrupt.signal });
}

#!/usr/bin/env node
// npm run bench -- NAME: measures one thing and keeps the raw figures under bench/results.
import { fileURLToPath } from "node:url";
import { BENCHMARKS } from "../bench/benchmarks.mjs";
import { main } from "../bench/harness/main.mjs";

process.exitCode = await main({
  args: process.argv.slice(2),
  benchmarks: BENCHMARKS,
  root: fileURLToPath(new URL("..", import.meta.url)),
});

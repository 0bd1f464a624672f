#!/usr/bin/env node
// npm run simulate [-- --seed N --steps M]: the whole service, whose disk, clock, trainer and clients do what a seed draws.
import { spawnSync } from "node:child_process";
import process from "node:process";
import { parseArgs } from "node:util";

const text = (value) => ({ type: "string", default: value });
const { seed, steps } = parseArgs({ options: { seed: text("1"), steps: text("10000") } }).values;
const env = { ...process.env, IMPRINT_SIMULATE: `${steps},${seed}` };
const { status } = spawnSync("npx", ["vitest", "run", "simulate/simulate"], { env, stdio: "inherit" });
process.exitCode = status ?? 1;

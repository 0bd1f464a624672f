#!/usr/bin/env node
// npm run soak [-- --kills N --seed N]: the real service and trainer, killed at random moments of whatever they do. An hour.
import { spawnSync } from "node:child_process";
import process from "node:process";
import { parseArgs } from "node:util";

const text = (value) => ({ type: "string", default: value });
const { kills, seed } = parseArgs({ options: { kills: text("200"), seed: text("1") } }).values;
const env = { ...process.env, IMPRINT_SOAK: `${kills},${seed}` };
const args = ["vitest", "run", "--config", "vitest.check.config.ts", "soak/", "--disable-console-intercept"];
process.exitCode = spawnSync("npx", args, { env, stdio: "inherit" }).status ?? 1;

#!/usr/bin/env node
// npm run audit: what is known against the locked versions. A report: it fails nothing, also where a registry tells of nothing.
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import path from "node:path";
import { ROOT as cwd } from "./lib/setup/main.mjs";

const { pip } = JSON.parse(readFileSync(path.join(cwd, ".imprint", "setup.json"), "utf8"));
const day = new Date(Date.now() - 7 * 86_400_000).toISOString().slice(0, 10);
const pipAudit = ["pip-audit", "--progress-spinner=off", "--disable-pip", "--require-hashes", "-r", "trainer/requirements.lock"];
for (const [program, ...args] of [
  [process.execPath, process.env.npm_execpath, "audit"],
  // Itself as old as what may be locked.
  [pip, "-m", "uv", "tool", "run", "--exclude-newer", day, ...pipAudit],
])
  spawnSync(program, args, { cwd, stdio: "inherit", timeout: 120_000 });

#!/usr/bin/env node
// npm run audit: what is known against the locked versions. A report: it fails nothing, also where a registry tells of nothing.
import { spawnSync } from "node:child_process";
import { ROOT as cwd } from "./lib/setup/main.mjs";
import { npmCommand } from "./lib/setup/npm.mjs";
import { readSetup, refuse } from "./lib/trainer.mjs";

const { pip = refuse("There is no uv yet: run npm run setup.") } = readSetup();
const pipAudit = ["pip-audit", "--progress-spinner=off", "--disable-pip", "--require-hashes", "-r", "trainer/requirements.lock"];
for (const [program, ...args] of [
  [...npmCommand({ env: process.env }), "audit"],
  // Itself as old as what may be locked.
  [pip, "-m", "uv", "tool", "run", "--exclude-newer", "7 days", ...pipAudit],
])
  spawnSync(program, args, { cwd, stdio: "inherit", timeout: 120_000 });

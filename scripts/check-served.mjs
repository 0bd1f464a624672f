#!/usr/bin/env node
// What the service asks of a real llama-server, to see whether it applies an adapter. Installs it into the cache; minutes.
import { spawn } from "node:child_process";
import { once } from "node:events";
import path from "node:path";
import { installAgent } from "./lib/agents/install.mjs";
import { runSetup } from "./lib/demo/setup.mjs";
import { ROOT } from "./lib/setup/main.mjs";

const interrupt = new AbortController();
for (const name of ["SIGINT", "SIGTERM", "SIGHUP"]) process.once(name, () => interrupt.abort());
const { signal } = interrupt;
process.exitCode = 1;
if (await runSetup(signal, ["--dev"])) {
  const programs = await installAgent({ name: "llama-server", root: ROOT, env: process.env, signal });
  const env = { ...process.env, LLAMA_SERVER_PYTHON: path.join(programs, "python") };
  const vitest = path.join(ROOT, "node_modules", "vitest", "vitest.mjs");
  const args = ["run", "--config", path.join(ROOT, "vitest.check.config.ts"), "llama-server"];
  const child = spawn(process.execPath, [vitest, ...args], { cwd: ROOT, env, stdio: "inherit" });
  signal.addEventListener("abort", () => child.kill("SIGTERM"));
  const [code] = await once(child, "close");
  process.exitCode = code ?? 1;
}

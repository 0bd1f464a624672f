import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { AGENTS } from "../../../packages/cli/dist/index.js";
import { Interrupted } from "../process/failures.mjs";
import { BEFORE, FILE, TASK } from "./clients.mjs";
import { judge } from "./judge.mjs";
import { MODEL, startScripted } from "./service.mjs";
import { makeWorkspace } from "./workspace.mjs";

const LIMIT_MS = 180_000;

/** Lets an agent do the task; resolves with what is wrong with the outcome, in sentences, and with what the agent said. */
export async function attempt({ name, client, programs, root, env, signal }) {
  const folder = mkdtempSync(path.join(os.tmpdir(), `imprint-agent-${name}-`));
  const said = [];
  try {
    const { home, repository, launch } = await makeWorkspace({ folder, files: { [FILE]: BEFORE }, programs, root, env, signal });
    const at = (file) => path.join(repository, file);
    const settings = Object.entries(client.settings ?? {}).map(([file, text]) => [path.join(home, file), text]);
    for (const [file, text] of settings) {
      mkdirSync(path.dirname(file), { recursive: true });
      writeFileSync(file, text);
    }
    const script = client.script(at);
    const service = await startScripted({ folder, root, script });
    const { dataDir } = service;
    const args = [...AGENTS[name].alone(TASK), ...(client.more ?? [])];
    const onLine = (line) => said.push(line);
    const failure = await launch({ name, model: MODEL, args, dataDir, record: true, onLine, timeoutMs: LIMIT_MS });
    const sessions = await service.end();
    if (failure instanceof Interrupted) throw failure;
    const changed = settings
      .filter(([file, text]) => readFileSync(file, "utf8") !== text)
      .map(([file]) => path.relative(home, file));
    return { wrong: judge({ failure, text: readFileSync(at(FILE), "utf8"), sessions, script, changed }), said };
  } finally {
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

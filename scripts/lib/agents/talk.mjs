import { mkdtempSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { AGENTS } from "../../../packages/cli/dist/index.js";
import { startDemoService } from "../demo/service.mjs";
import { Interrupted } from "../process/failures.mjs";
import { judgeTalk } from "./answers.mjs";
import { BEFORE, FILE, TASK } from "./clients.mjs";
import { watch } from "./watched.mjs";
import { makeWorkspace } from "./workspace.mjs";

const LIMIT_MS = 300_000;
/** Of an answer: enough to see that it is understood. */
const TOKENS = 32;

/** The real service with the default model, in a folder of its own. */
export async function startReal() {
  const dataDir = mkdtempSync(path.join(os.tmpdir(), "imprint-agents-"));
  const { url, baseModel, close } = await startDemoService({ dataDir });
  const end = async () => {
    await close();
    rmSync(dataDir, { recursive: true, force: true, maxRetries: 5 });
  };
  return { url, baseModel, dataDir, end };
}

/** Lets an agent try its task with the default model; resolves with what of their talk was not understood. The task is beyond that model. */
export async function talk({ name, client, programs, root, env, signal, service: { url, baseModel, dataDir } }) {
  const folder = mkdtempSync(path.join(os.tmpdir(), `imprint-agent-${name}-`));
  const way = await watch(url, { tokens: TOKENS });
  const said = [];
  try {
    const { launch } = await makeWorkspace({ folder, files: { [FILE]: BEFORE }, programs, root, env, signal });
    const args = [...AGENTS[name].alone(TASK), ...(client.more ?? []), ...(client.brief ?? [])];
    const asked = { name, model: baseModel, args, dataDir, url: way.url, onLine: (line) => said.push(line), timeoutMs: LIMIT_MS };
    const failure = await launch(asked);
    if (failure instanceof Interrupted) throw failure;
    return { ...judgeTalk({ failure, answers: way.answers, said }), said };
  } finally {
    await way.close();
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

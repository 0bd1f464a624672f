import { mkdirSync, rmSync } from "node:fs";
import path from "node:path";
import { proofLines } from "../../../../packages/cli/dist/index.js";
import { installAgent } from "../../agents/install.mjs";
import { MODEL, startScripted } from "../../agents/service.mjs";
import { makeWorkspace } from "../../agents/workspace.mjs";
import { Interrupted } from "../../process/failures.mjs";
import { ROOT } from "../../setup/main.mjs";
import { follow } from "../follow.mjs";
import { createPaper } from "../paper.mjs";
import { startDemoService } from "../service.mjs";
import { ARGS, CHECK, EXPERT, FILES, TASK } from "./task.mjs";

const AGENT = "mini";
const LIMIT_MS = 180_000;
const FOLDER = path.join(ROOT, ".imprint", "demo-loop");

/** Record, train, prove, use: told on `out`. Resolves with the exit code; nothing is left running then. */
export async function tellLoop({ started, signal, folder = FOLDER, env = process.env, out = process.stdout }) {
  const paper = createPaper(out, env);
  const { paint } = paper;
  const open = [];
  const clean = () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  try {
    clean();
    mkdirSync(folder, { recursive: true });
    paper.title("The loop", "What an expert does in an agent is recorded, trained, proved, and used by the same agent.");
    paper.remark(`The task, in a small repository: ${TASK}`);
    const programs = await installAgent({ name: AGENT, root: ROOT, env, signal });

    /** Whether the agent, on a model, leaves the repository's check passing. */
    const attempt = async ({ name, model, dataDir, record }) => {
      const place = { folder: path.join(folder, name), files: FILES, programs, root: ROOT, env, signal };
      const { launch, passes } = await makeWorkspace(place);
      const began = performance.now();
      const failure = await launch({ name: AGENT, model, args: ARGS, dataDir, record, timeoutMs: LIMIT_MS });
      if (failure instanceof Interrupted) throw failure;
      const passed = await passes(...CHECK);
      const seconds = `${((performance.now() - began) / 1000).toFixed(0)} s`;
      const ended = failure === null ? "" : `; ${failure.message}`;
      paper.item(
        `${passed ? paint("green", "✓") : paint("red", "✗")} ${CHECK.join(" ")} ${passed ? "passes" : "fails"} after it (${seconds}${ended})`,
      );
      return passed;
    };

    paper.step("An expert does it in mini-SWE-agent, through the recording gateway");
    paper.remark(`imprint launch ${AGENT} MODEL --record`);
    const expert = await startScripted({ folder, root: ROOT, script: EXPERT });
    open.push(() => expert.end());
    const { dataDir } = expert;
    const doubts = [];
    if (!(await attempt({ name: "expert", model: MODEL, dataDir, record: true }))) doubts.push("The expert did not do the task.");
    const [session, ...others] = await open.pop()();
    if (session === undefined || others.length > 0) throw new Error(`${1 + others.length} sessions were recorded, not one`);
    paper.item(`recorded: session ${session.session_id}, ${session.steps.length} steps, ${session.tools.length} tool`);

    paper.step("The base model tries, in the same agent");
    const service = await startDemoService({ dataDir, announce: true });
    open.push(service.close);
    const { client, baseModel } = service;
    if (await attempt({ name: "base", model: baseModel, dataDir })) doubts.push("The base model does the task by itself.");

    paper.step("Train on the recording, and prove it");
    const { job_id } = await client.train.lora({ session_id: session.session_id, seed: 1 }, { signal });
    const job = await follow({ client, paper, signal, out }, job_id);
    for (const line of proofLines(job.proof, paint)) paper.item(line);

    paper.step("The adapter tries, in the same agent");
    if (!(await attempt({ name: "adapter", model: job.adapter_id, dataDir }))) doubts.push("The adapter does not do the task.");

    for (const doubt of doubts) paper.line(`${paint("red", "✗")} ${doubt}`);
    const seconds = `${((performance.now() - started) / 1000).toFixed(1)} s`;
    paper.line(doubts.length === 0 ? `${paint("green", "✓")} Done in ${seconds}.` : `The demo failed after ${seconds}.`);
    return doubts.length === 0 ? 0 : 1;
  } catch (error) {
    paper.line();
    paper.line(signal.aborted ? "Interrupted. Nothing is left running." : `${paint("red", "The demo failed:")} ${error.message}`);
    return 1;
  } finally {
    for (const close of open.reverse()) await close();
  }
}

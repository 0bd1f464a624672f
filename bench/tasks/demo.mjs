import { existsSync, mkdirSync, rmSync, symlinkSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { installAgent } from "../../scripts/lib/agents/install.mjs";
import { follow } from "../../scripts/lib/demo/follow.mjs";
import { createPaper, fromHere } from "../../scripts/lib/demo/paper.mjs";
import { startDemoService } from "../../scripts/lib/demo/service.mjs";
import { ROOT } from "../../scripts/lib/setup/main.mjs";
import { cellOf, makeRepository, together } from "./cells.mjs";
import { trainings } from "./rows.mjs";
import { compileAgent } from "./run-agent.mjs";

const BASE = "qwen2.5-coder-0.5b-instruct";
const SEED = "first";
/** One of those that `learn` was tuned on: a demo is no test. */
const ONE = { name: "operations-3", kind: "operations" };
const SESSIONS = 4; // six take the demo over ten minutes
const TASKS = 2; // of each family that the sessions show
const DATA_DIR = path.join(ROOT, ".imprint", "demo-tasks");

/** The base model's folder, of this demo or linked from the user's own data directory; pulled where it is in neither. */
async function baseThere({ client, paper, signal, out, dataDir }) {
  const [here, own] = [dataDir, path.join(os.homedir(), ".imprint")].map((folder) => path.join(folder, "models", BASE));
  if (existsSync(here)) return;
  if (existsSync(own)) return symlinkSync(own, here);
  const { job_id } = await client.models.pull(BASE);
  await follow({ client, paper, signal, out }, job_id);
}

/** An agent tries tasks with a base model, and with an adapter of sessions that were recorded in their repository: told on `out`. */
export async function tellTasks({ started, signal, dataDir = DATA_DIR, out = process.stdout, env = process.env }) {
  const paper = createPaper(out, env);
  const { paint } = paper;
  const mark = (isGood) => (isGood ? paint("green", "✓") : paint("red", "✗"));
  let service;
  try {
    paper.title("Tasks", "An agent works in a repository with rules of its own: with a base model, then with an adapter.");
    const work = path.join(dataDir, "work");
    rmSync(work, { recursive: true, force: true });
    const conversations = path.join(work, "conversations");
    mkdirSync(conversations, { recursive: true });
    const programs = await installAgent({ name: "mini", root: ROOT, env, signal });
    await compileAgent(programs);
    service = await startDemoService({ dataDir });
    const { client, url } = service;

    paper.step(`The base model: ${BASE}`);
    await baseThere({ client, paper, signal, out, dataDir });
    const repository = makeRepository({ one: ONE, seed: SEED, folder: work, programs, signal, print: paper.item });
    const held = repository.plan.tasks.filter(({ side, shown, number }) => side === "heldOut" && shown && number < TASKS);

    /** How many of the tasks the agent solves with a model. */
    const attempt = async (row, model) => {
      let solved = 0;
      await together(held, async (task) => {
        const cell = await cellOf({ repository, row, task, model, url, programs, conversations, signal });
        if (cell.solved) solved += 1;
        const told = `${cell.outcome}, ${cell.turns} turns, ${cell.seconds.toFixed(0)} s`;
        paper.item(`${mark(cell.solved)} ${task.prompt} ${paint("dim", told)}`);
      });
      return solved;
    };
    paper.step("The base model tries, in mini-swe-agent");
    const before = await attempt("base", BASE);

    paper.step(`${SESSIONS} sessions of others' tasks are recorded: an expert's, in the same agent`);
    const sessions = await repository.sessions(SESSIONS);
    paper.step("An adapter learns them");
    await client.adapters.delete(ONE.name).catch((error) => {
      if (error.status !== 404) throw error;
    });
    const wait = (jobId) => follow({ client, paper, signal, out }, jobId);
    const { model } = await trainings({ client, baseModel: BASE, print: paper.item, wait }).train(ONE.name, sessions);

    paper.step("The adapter tries the same tasks");
    const after = await attempt(`learn${SESSIONS}`, model);

    paper.line();
    paper.item(`Solved of ${held.length}: ${before} with the base model, ${after} with the adapter.`);
    paper.remark(`What was said: ${fromHere(conversations)}`);
    const seconds = `${((performance.now() - started) / 1000).toFixed(0)} s`;
    const isMore = after > before;
    paper.line(`${mark(isMore)} ${isMore ? "Done in" : "The adapter solves no more:"} ${seconds}.`);
    return isMore ? 0 : 1;
  } catch (error) {
    paper.broken(error, signal);
    return 1;
  } finally {
    await service?.close();
  }
}

import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { planRepository } from "./generate/repository.mjs";
import { isChanged, passes, writeRepository } from "./generate/write.mjs";
import { recordSession } from "./record.mjs";
import { ROWS } from "./rows.mjs";
import { runAgent } from "./run-agent.mjs";

/** How a run ended, in a few words. */
const outcomeOf = ({ exit, found }) => {
  if (found.solved) return "solved";
  if (exit === "RepeatedFormatError") return "no call";
  if (exit !== "Submitted") return "limit";
  return found.changed ? "check failed" : "nothing changed";
};

/** llama.cpp computes so many of one adapter together. */
const CONVERSATIONS = 2;

/** Works on a list of cells, as many at once as are computed together. */
export async function together(list, work) {
  const left = [...list];
  const worker = async () => {
    for (let one = left.shift(); one !== undefined; one = left.shift()) await work(one);
  };
  await Promise.all(Array.from({ length: CONVERSATIONS }, worker));
}

/**
 * A repository of the seed in `folder`, with its tasks by name. `sessions(count)` resolves with so many of the experts' sessions, the
 * families in turn: what is kept is not recorded again.
 */
export function makeRepository({ one, seed, folder, programs, signal, print }) {
  const plan = planRepository({ ...one, seed });
  const place = path.join(folder, one.name);
  const tasks = writeRepository(plan, place);
  const kept = path.join(folder, "sessions", one.name);
  mkdirSync(kept, { recursive: true });
  const training = plan.tasks.filter(({ side }) => side === "training").sort((a, b) => a.number - b.number);
  const session = async ({ name, family, ways, number }, at) => {
    const file = path.join(kept, `${name}.jsonl`);
    if (!existsSync(file)) {
      const task = tasks.get(name);
      const way = ways[(at + number) % ways.length];
      const look = (work) => passes(task, work);
      const repository = path.join(place, "repository");
      const recorded = await recordSession({ task, way, repository, programs, signal, look });
      if (!recorded.found) throw new Error(`The expert's session of ${one.name}, ${name}, does not pass the check.`);
      writeFileSync(file, `${recorded.session}\n`);
      print(`${one.name}: ${name} recorded`);
    }
    return { family, text: readFileSync(file, "utf8") };
  };
  const sessions = async (count) => {
    const found = [];
    for (const [at, task] of training.slice(0, count).entries()) found.push(await session(task, at));
    return found;
  };
  return { ...one, plan, folder: place, tasks, sessions };
}

/** Runs one held-out task and gives its line of the results. */
export async function cellOf({ repository, row, task, model, url, programs, conversations, signal }) {
  const file = repository.tasks.get(task.name);
  const preface = await ROWS[row].preface?.(repository, task.family);
  const { commit, limits } = file;
  const prompt = preface === undefined ? task.prompt : `${preface}\n\n${task.prompt}`;
  const look = (work) => ({ changed: isChanged(work), solved: passes(file, work) });
  const end = await runAgent({
    repository: path.join(repository.folder, "repository"),
    commit,
    prompt,
    limits,
    url,
    model,
    programs,
    signal,
    look,
  });
  writeFileSync(path.join(conversations, `${repository.name}-${row}-${task.name}.json`), JSON.stringify(end.messages, null, 1));
  const { exit, turns, tokens, seconds, found } = end;
  return { solved: found.solved, outcome: outcomeOf(end), exit, turns, tokens, seconds: Math.round(seconds * 10) / 10 };
}

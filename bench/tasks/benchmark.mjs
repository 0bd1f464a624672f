import { appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { installAgent } from "../../scripts/lib/agents/install.mjs";
import { startDemoService } from "../../scripts/lib/demo/service.mjs";
import { ROOT } from "../../scripts/lib/setup/main.mjs";
import { defaultModel, refuse, userPath } from "../../scripts/lib/trainer.mjs";
import { planRepository, repositories } from "./generate/repository.mjs";
import { isChanged, passes, writeRepository } from "./generate/write.mjs";
import { recordSession } from "./record.mjs";
import { ROWS, trainings } from "./rows.mjs";
import { compileAgent, runAgent } from "./run-agent.mjs";
import { table } from "./table.mjs";

/** llama.cpp computes so many of one adapter together. */
const CONVERSATIONS = 2;

const list = (words) => words.split(",").filter(Boolean);

const lines = (file) => (existsSync(file) ? readFileSync(file, "utf8").trim().split("\n").filter(Boolean) : []);

const unknown = (what, given, known) =>
  refuse(`There is no ${what} ${given}: --${what === "row" ? "rows" : "repositories"} takes ${known.join(", ")}.`);

/** How a run ended, in a few words. */
const outcomeOf = ({ exit, found }) => {
  if (found.solved) return "solved";
  if (exit === "RepeatedFormatError") return "no call";
  if (exit !== "Submitted") return "limit";
  return found.changed ? "check failed" : "nothing changed";
};

/** Works on the list, so many at once. */
async function together(list, count, work) {
  const left = [...list];
  const worker = async () => {
    for (let one = left.shift(); one !== undefined; one = left.shift()) await work(one);
  };
  await Promise.all(Array.from({ length: count }, worker));
}

/**
 * A repository of the seed in `folder`, with its tasks by name. `sessions(count)` resolves with so many of the experts' sessions, the
 * families in turn: what is kept is not recorded again.
 */
function makeRepository({ one, seed, folder, programs, print }) {
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
      const recorded = await recordSession({ task, way, repository: path.join(place, "repository"), programs, look });
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
async function cellOf({ repository, row, task, model, url, programs, conversations }) {
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
    look,
  });
  writeFileSync(path.join(conversations, `${repository.name}-${row}-${task.name}.json`), JSON.stringify(end.messages, null, 1));
  const { exit, turns, tokens, context, seconds, found } = end;
  return { solved: found.solved, outcome: outcomeOf(end), exit, turns, tokens, context, seconds: Math.round(seconds * 10) / 10 };
}

export const benchmark = {
  name: "tasks",
  description: "tasks of made-up repositories that an agent solves with the base, prompts and adapters (hours)",
  options: {
    repositories: { type: "string", default: "tuning" },
    rows: { type: "string", default: Object.keys(ROWS).join(",") },
    base: { type: "string" },
    results: { type: "string", default: "tasks.jsonl" },
    seed: { type: "string", default: "first" },
  },
  async run({ options, print }) {
    const { seed } = options;
    const all = repositories(seed);
    const named = list(options.repositories);
    const chosen = all.filter(({ name, half }) => named.includes(name) || named.includes(half));
    for (const name of named)
      if (!all.some((one) => one.name === name || one.half === name))
        unknown("repository", name, ["tuning", "test", ...all.map((one) => one.name)]);
    const rows = list(options.rows);
    for (const row of rows) if (!Object.hasOwn(ROWS, row)) unknown("row", row, Object.keys(ROWS));
    const base = options.base === undefined ? defaultModel() : userPath(options.base);
    const results = userPath(options.results);
    const work = results.replace(/\.jsonl$/, "-work");
    const folder = path.join(work, seed);
    const conversations = path.join(folder, "conversations");
    mkdirSync(conversations, { recursive: true });
    const programs = await installAgent({ name: "mini", root: ROOT, env: process.env, signal: new AbortController().signal });
    await compileAgent(programs);
    const service = await startDemoService({ dataDir: path.join(folder, "data"), flags: { base_model: base } });
    try {
      const { client, baseModel, url } = service;
      const { train, imprint } = trainings({ client, baseModel, print });
      const made = new Map();
      const repositoryOf = (one) => {
        if (!made.has(one.name)) made.set(one.name, makeRepository({ one, seed, folder, programs, print }));
        return made.get(one.name);
      };
      const done = new Set(lines(results).map((line) => keyOf(JSON.parse(line))));
      for (const one of chosen)
        for (const row of rows) {
          const cells = planRepository({ ...one, seed })
            .tasks.filter(({ side }) => side === "heldOut")
            .map((task) => ({ task, about: { seed, base: baseModel, repository: one.name, row, task: task.name } }))
            .filter(({ about }) => !done.has(keyOf(about)));
          if (cells.length === 0) continue;
          const repository = repositoryOf(one);
          const other = () => {
            const others = [...all, ...all]
              .slice(all.indexOf(one) + 1)
              .find(({ kind, half }) => kind !== one.kind && half === one.half);
            return others === undefined ? null : repositoryOf(others);
          };
          const { model = baseModel, leftOut } = (await ROWS[row].model?.({ repository, other, train, imprint })) ?? {};
          if (leftOut !== undefined) {
            print(`${one.name}, ${row}: left out. ${leftOut}`);
            continue;
          }
          await together(cells, CONVERSATIONS, async ({ task, about }) => {
            const cell = await cellOf({ repository, row, task, model, url, programs, conversations });
            const line = { ...about, kind: one.kind, half: one.half, family: task.family, shown: task.shown, ...cell };
            appendFileSync(results, `${JSON.stringify(line)}\n`);
            print(
              `${one.name}, ${row}, ${task.name}: ${cell.outcome}, ${cell.turns} turns, ${cell.tokens} tokens, ${cell.seconds} s`,
            );
          });
        }
    } finally {
      await service.close();
    }
    const cells = lines(results)
      .map((line) => JSON.parse(line))
      .filter((cell) => cell.seed === seed && chosen.some(({ name }) => name === cell.repository) && rows.includes(cell.row));
    for (const line of table(cells)) print(line);
    return { cells };
  },
};

const keyOf = ({ seed, base, repository, row, task }) => [seed, base, repository, row, task].join("/");

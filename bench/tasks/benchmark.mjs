import { appendFileSync, existsSync, mkdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { installAgent } from "../../scripts/lib/agents/install.mjs";
import { startDemoService } from "../../scripts/lib/demo/service.mjs";
import { ROOT } from "../../scripts/lib/setup/main.mjs";
import { defaultModel, refuse, userPath } from "../../scripts/lib/trainer.mjs";
import { commit } from "../harness/machine.mjs";
import { cellOf, makeRepository, together } from "./cells.mjs";
import { planRepository, repositories } from "./generate/repository.mjs";
import { ROWS, trainings } from "./rows.mjs";
import { compileAgent } from "./run-agent.mjs";
import { table } from "./table.mjs";

const list = (words) => words.split(",").filter(Boolean);

const lines = (file) => (existsSync(file) ? readFileSync(file, "utf8").trim().split("\n").filter(Boolean) : []);

const unknown = (what, given, known) =>
  refuse(`There is no ${what} ${given}: --${what === "row" ? "rows" : "repositories"} takes ${known.join(", ")}.`);

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
    const tree = commit(ROOT); // a result counts for the code that it was measured with, and no other
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
          await together(cells, async ({ task, about }) => {
            const cell = await cellOf({ repository, row, task, model, url, programs, conversations });
            const line = { ...about, kind: one.kind, half: one.half, family: task.family, shown: task.shown, ...cell, ...tree };
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

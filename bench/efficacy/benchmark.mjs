import { readdirSync } from "node:fs";
import path from "node:path";
import { run } from "../../scripts/lib/process/run.mjs";
import { defaultModel, findPython, refuse, trainerEnvironment, userPath } from "../../scripts/lib/trainer.mjs";

const list = (words) => words.split(",").filter(Boolean);

function groupsOf(folder) {
  if (!folder) refuse("Name --groups: a folder that holds a folder of canonical sessions for each repository.");
  const root = userPath(folder);
  try {
    const entries = readdirSync(root, { withFileTypes: true }).filter((entry) => entry.isDirectory());
    return { root, names: entries.map(({ name }) => name).sort() };
  } catch {
    return refuse(`--groups: ${folder} cannot be read.`);
  }
}

export const benchmark = {
  name: "efficacy",
  description: "what adapters bring on the next session of the same repository, on others, on neutral text (hours)",
  options: {
    groups: { type: "string" },
    only: { type: "string", default: "" },
    unrelated: { type: "string", default: "" },
    sessions: { type: "string", default: "1,4" },
    settings: { type: "string", default: "context,learn" },
    "trained-windows": { type: "string", default: "4" },
    "tested-windows": { type: "string", default: "4" },
    results: { type: "string", default: "efficacy.jsonl" },
  },
  async run({ options, print }) {
    const { root, names } = groupsOf(options.groups);
    const folders = (some) => some.map((name) => path.join(root, name));
    const chosen = list(options.only);
    const args = [
      ...["-m", "imprint_trainer", "efficacy", "--json", "--base", defaultModel(), "--out", userPath(options.results)],
      ...["--sessions", ...list(options.sessions), "--settings", ...list(options.settings)],
      ...["--trained-windows", options["trained-windows"], "--tested-windows", options["tested-windows"]],
      ...["--groups", ...folders(chosen.length > 0 ? chosen : names), "--unrelated", ...folders(list(options.unrelated))],
    ];
    const onLine = (line) => line.startsWith("{") || print(line);
    const { stdout } = await run(findPython(), args, { env: trainerEnvironment(), onLine, name: "the trainer" });
    const { table, rows, cases } = JSON.parse(stdout);
    print(table);
    return { rows, cases };
  },
};

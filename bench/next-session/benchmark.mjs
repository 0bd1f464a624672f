import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { run } from "../../scripts/lib/process/run.mjs";
import { defaultModel, findPython, refuse, trainerEnvironment, userPath } from "../../scripts/lib/trainer.mjs";

const list = (words) => words.split(",").filter(Boolean);

export const benchmark = {
  name: "next-session",
  description: "what adapters bring to the next session of a repository, to other sessions and to neutral text (hours)",
  options: {
    groups: { type: "string" },
    base: { type: "string" },
    only: { type: "string", default: "" },
    unrelated: { type: "string", default: "" },
    sessions: { type: "string", default: "1,4" },
    results: { type: "string", default: "next-session.jsonl" },
    device: { type: "string", default: "cpu" },
    imprint: { type: "string" },
  },
  async run({ options, print }) {
    if (options.groups === undefined) refuse("Name --groups: a folder with a folder of canonical sessions for each repository.");
    const root = userPath(options.groups);
    const only = list(options.only);
    const names = only.length > 0 ? only : readdirSync(root).sort();
    const folders = (some) => some.map((name) => path.join(root, name));
    const base = options.base === undefined ? defaultModel() : userPath(options.base);
    const results = userPath(options.results);
    const args = ["-m", "imprint_bench.next_session", "--base", base, "--results", results];
    args.push("--device", options.device, "--sessions", ...list(options.sessions));
    if (options.imprint !== undefined) args.push("--imprint", userPath(options.imprint));
    args.push("--groups", ...folders(names), "--unrelated", ...folders(list(options.unrelated)));
    await run(findPython(), args, { env: trainerEnvironment(), onLine: print, name: "the trainer" });
    return {
      cases: readFileSync(results, "utf8")
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line)),
    };
  },
};

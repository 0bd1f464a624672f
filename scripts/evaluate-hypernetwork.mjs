// npm run evaluate-hypernetwork -- [--base DIR] [--hypernetwork DIR] [--groups DIR] [--set dev|test] [--out FILE] ...: what a
// hypernetwork's adapters do for real sessions, for stated facts, and to everything else. Of the one for sessions that ships, where none is named.
import { defaultModel, runTrainer, userPath } from "./lib/trainer.mjs";

const PATHS = ["--base", "--hypernetwork", "--groups", "--out"];
const words = process.argv.slice(2).map((word, index, all) => (PATHS.includes(all[index - 1]) ? userPath(word) : word));
const named = (flag) => words.includes(flag) || words.includes("--help");
const shipped = new URL("../models/smollm2-135m-instruct-ridge", import.meta.url).pathname;
const defaults = [
  ...(named("--base") ? [] : ["--base", defaultModel()]),
  ...(named("--hypernetwork") ? [] : ["--hypernetwork", shipped]),
];
runTrainer(["imprint_trainer", "hypernetworks", "evaluate", ...defaults, ...words]);

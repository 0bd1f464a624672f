// npm run evaluate-hypernetwork -- --base DIR --hypernetwork DIR [--documents N] [--sessions DIR] [--json]: the table of what a
// hypernetwork's adapters recall and leave alone, by real greedy generation.
import { runTrainer, userPath } from "./lib/trainer.mjs";

const PATHS = ["--base", "--hypernetwork", "--sessions"];
const words = process.argv.slice(2).map((word, index, all) => (PATHS.includes(all[index - 1]) ? userPath(word) : word));
runTrainer(["imprint_trainer", "hypernetworks", "evaluate", ...words]);

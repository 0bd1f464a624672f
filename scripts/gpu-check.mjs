// npm run gpu-check [-- --base DIR --device cpu --length N --steps N]: whether trainings do on this machine's graphics card what they
// do on a CPU (docs/training.md). Exit code 1 when a check failed, 2 without a card.
import { defaultModel, runTrainer, userPath } from "./lib/trainer.mjs";

const words = process.argv.slice(2).map((word, index, all) => (all[index - 1] === "--base" ? userPath(word) : word));
runTrainer(["imprint_bench.gpu", ...(words.includes("--base") ? [] : ["--base", defaultModel()]), ...words]);

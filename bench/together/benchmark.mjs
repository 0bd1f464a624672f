import { run } from "../../scripts/lib/process/run.mjs";
import { defaultModel, findPython, trainerEnvironment, userPath } from "../../scripts/lib/trainer.mjs";

const middle = (seconds) => seconds.toSorted((a, b) => a - b)[Math.floor(seconds.length / 2)].toFixed(1);

/** Windows of one length in one line. */
const described = (one) =>
  `windows of ${one.tokens} tokens: ${middle(one.alone_seconds)} s one after another, ${middle(one.together_seconds)} s side by side: ` +
  `${one.wall_ratio.toFixed(2)} times (processor ${one.processor_ratio.toFixed(2)}), ${one.chosen ? "in one pass" : "a pass for each"}; ` +
  `losses within ${one.loss_difference.toExponential(0)}, weights within ${one.weight_difference.toExponential(0)}`;

export const benchmark = {
  name: "together",
  description: "several LoRA trainings on one base side by side, short windows in one pass, against one after another",
  options: {
    base: { type: "string" },
    jobs: { type: "string", default: "4" },
    tokens: { type: "string", default: "16,32" },
  },
  async run({ options, rounds, print }) {
    const base = options.base === undefined ? defaultModel() : userPath(options.base);
    const sizes = ["--jobs", options.jobs, "--rounds", String(rounds), "--tokens", ...options.tokens.split(",")];
    const args = ["-m", "imprint_trainer", "measure-together", "--base", base, ...sizes];
    const { stdout } = await run(findPython(), args, { env: trainerEnvironment(), name: "the trainer" });
    const figures = JSON.parse(stdout);
    print(`${figures.jobs} trainings of 16 steps, ${figures.threads} threads:`);
    for (const length of figures.lengths) print(described(length));
    return figures;
  },
};

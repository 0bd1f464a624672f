import { run } from "../../scripts/lib/process/run.mjs";
import { defaultModel, findPython, trainerEnvironment, userPath } from "../../scripts/lib/trainer.mjs";

export const benchmark = {
  name: "steps",
  description: "steps that trainings on one session plan with windows of 1k, 4k, 8k and 32k tokens: they are to be the same",
  options: { base: { type: "string" }, tokens: { type: "string", default: "33000" } },
  async run({ options, print }) {
    const base = options.base === undefined ? defaultModel() : userPath(options.base);
    const args = ["-m", "imprint_bench.steps", "--base", base, "--tokens", options.tokens];
    const { stdout } = await run(findPython(), args, { env: trainerEnvironment(), name: "the trainer" });
    const figures = JSON.parse(stdout);
    for (const one of figures.steps)
      print(
        `windows of ${one.window}: ${one.windows}, ${one.supervised} tokens supervised; ` +
          `learn ${one.learn} steps, remember ${one.remember} at most`,
      );
    return figures;
  },
};

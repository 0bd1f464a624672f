import { run } from "../../scripts/lib/process/run.mjs";
import { defaultModel, findPython, trainerEnvironment, userPath } from "../../scripts/lib/trainer.mjs";

export const benchmark = {
  name: "roofline",
  description: "how near a training and a reading come to this processor's products and memory",
  options: { base: { type: "string" } },
  async run({ options, print }) {
    const base = options.base === undefined ? defaultModel() : userPath(options.base);
    const words = ["-m", "imprint_bench.roofline", base];
    const { stdout } = await run(findPython(), words, { env: trainerEnvironment() });
    const { dtype, gflops, gb_s, ...phases } = JSON.parse(stdout.trim().split("\n").at(-1));
    print(`${gflops.toFixed(0)} GFLOPS in ${dtype}, ${gb_s.toFixed(1)} GB/s are read`);
    for (const [name, { gflop, weights_mb, gflops: rate, share }] of Object.entries(phases))
      print(
        `${name}: ${gflop.toFixed(2)} GFLOP and ${weights_mb.toFixed(2)} MB of weights a token, ` +
          `${rate.toFixed(0)} GFLOPS, ${(100 * share).toFixed(0)} %`,
      );
    return { dtype, gflops, gb_s, ...phases };
  },
};

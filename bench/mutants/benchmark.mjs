import { rmSync } from "node:fs";
import { copyOf } from "../../scripts/lib/guarantees/main.mjs";
import { ROOT } from "../../scripts/lib/setup/main.mjs";
import { drawing } from "../harness/draw.mjs";
import { UsageError } from "../harness/main.mjs";
import { wilson } from "../harness/statistics.mjs";
import { serverMutants } from "./server.mjs";
import { trainerMutants } from "./trainer.mjs";

/** By what they change: `{noticed, what}` of each that was tried. */
const HALVES = { server: serverMutants, trainer: trainerMutants };

export const benchmark = {
  name: "mutants",
  description: "small changes to the server's core, or the trainer's, that its tests notice (by the share; 0.05: ten minutes)",
  options: {
    of: { type: "string", default: "server" },
    share: { type: "string", default: "0.05" },
    seed: { type: "string", default: "first" },
  },
  async run({ options, print }) {
    const [mutants, share] = [HALVES[options.of], Number(options.share)];
    if (mutants === undefined) throw new UsageError(`--of is one of ${Object.keys(HALVES).join(", ")}, not ${options.of}.`);
    if (!(share > 0 && share <= 1)) throw new UsageError("--share is a number above 0, at most 1.");
    const draw = drawing(options.seed);
    const folder = copyOf(ROOT);
    try {
      const tried = await mutants({ folder, chance: () => draw.below(1e6) < share * 1e6, print });
      const left = tried.filter(({ noticed }) => !noticed).map(({ what }) => what);
      for (const what of left) print(what);
      const noticed = tried.length - left.length;
      const percent = wilson(noticed, tried.length).map((share) => Math.round(100 * share));
      print(`noticed ${noticed} of ${tried.length} (${percent.join(", ")} %)`);
      return { tried: tried.length, noticed, left };
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
};

import { run } from "../../scripts/lib/process/run.mjs";
import { defaultModel, findPython, trainerEnvironment, userPath } from "../../scripts/lib/trainer.mjs";

const percent = (share) => `${Math.round(100 * share)} %`;

/** A session in one line. */
const described = (one) =>
  `${one.size} tokens: ${one.windows} windows of up to ${one.longest}, ${one.ms_per_token.toFixed(1)} ms a token, ` +
  `a pass ${Math.round(one.pass_seconds)} s; peak ${Math.round(one.peak_mb)} MB (${Math.round(one.predicted_mb)} predicted` +
  `${one.checkpointing ? ", checkpointing" : ""}); ${percent(one.supervised_share)} supervised, ${percent(one.new_share)} new`;

export const benchmark = {
  name: "length",
  description: "cost of a pass over sessions of 1,000 to 200,000 tokens: time, peak memory, supervised and new tokens",
  options: {
    base: { type: "string" },
    tokens: { type: "string", default: "1000,4000,16000,60000,200000" },
    "max-length": { type: "string" },
  },
  async run({ options, print }) {
    const base = options.base === undefined ? defaultModel() : userPath(options.base);
    const limit = options["max-length"] === undefined ? [] : ["--max-length", options["max-length"]];
    const args = ["-m", "imprint_bench.length", "--base", base, "--tokens", ...options.tokens.split(","), ...limit];
    const { stdout } = await run(findPython(), args, { env: trainerEnvironment(), name: "the trainer" });
    const figures = JSON.parse(stdout);
    const timed = figures.steps.map(({ tokens }) => tokens).join(", ");
    print(`Steps of windows with ${timed} tokens were timed once each; whole passes are computed from them.`);
    for (const session of figures.sessions) print(described(session));
    return figures;
  },
};

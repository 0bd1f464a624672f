import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { canonicalLines } from "../../scripts/lib/canonical-sessions.mjs";
import { defaultModel, findPython, trainerEnvironment, userPath } from "../../scripts/lib/trainer.mjs";
import { contestant } from "./contestant.mjs";
import { figures } from "./figures.mjs";

const EXAMPLES = fileURLToPath(new URL("../../examples/sessions", import.meta.url));

/** The demo's session, as it is stored. */
async function exampleSession(folder) {
  const file = path.join(folder, "session.json");
  for await (const line of canonicalLines(EXAMPLES)) {
    writeFileSync(file, line);
    return file;
  }
}

/** Steps of all trainers in turn (A B C A B C ...), each trainer in a process of its own. */
async function measured({ session, rounds, print, beside, ...options }) {
  const steps = rounds + 1;
  const given = Object.entries({ ...options, session, steps }).flatMap(([name, value]) => [`--${name}`, String(value)]);
  const works = ["imprint", ...beside.split(",")].map((name) => {
    const env = { ...trainerEnvironment(), ...(name !== "imprint" && { GOMP_SPINCOUNT: "300000" }) }; // libgomp's own: others set none
    return { name, ...contestant({ python: findPython(), args: ["--by", name, ...given], env }) };
  });
  try {
    const results = {};
    for (const { name, loaded } of works) results[name] = { ...(await loaded()), losses: [], seconds: [] };
    for (let round = 0; round < steps; round++)
      for (const { name, step } of works) {
        const { loss, seconds } = await step();
        results[name].losses.push(loss);
        results[name].seconds.push(seconds);
        print(`step ${round + 1} of ${steps}, ${name}: ${seconds.toFixed(1)} s, loss ${loss.toFixed(3)}`);
      }
    for (const { name, end } of works) Object.assign(results[name], await end());
    return results;
  } finally {
    for (const { kill } of works) kill();
  }
}

export const benchmark = {
  name: "train",
  description: "tokens a second, peak memory and losses of a training, beside TRL and a plain transformers + PEFT loop",
  options: {
    base: { type: "string" },
    quantization: { type: "string", default: "nf4" },
    windows: { type: "string", default: "2" },
    beside: { type: "string", default: "trl,plain" },
    "max-length": { type: "string", default: "1024" },
  },
  async run({ options, rounds, print }) {
    const folder = mkdtempSync(path.join(tmpdir(), "imprint-bench-"));
    try {
      const { quantization, windows, beside, "max-length": length } = options;
      const base = options.base === undefined ? defaultModel() : userPath(options.base);
      const session = await exampleSession(folder);
      const found = figures(
        await measured({ base, quantization, windows, beside, "max-length": length, session, rounds, print }),
      );
      for (const [name, { tokens_per_second: speed, speedup, peak_mb, peak_ratio, loss_difference }] of Object.entries(found))
        print(
          `${name}: ${speed.median} tokens/s (${speed.min} to ${speed.max}), peak ${peak_mb} MB` +
            (name === "imprint"
              ? ""
              : `; imprint is ${speedup.median} times as fast (${speedup.min} to ${speedup.max}), takes ${peak_ratio} of its memory, ` +
                `and its losses differ by ${(100 * loss_difference).toFixed(2)} % at most`),
        );
      return found;
    } finally {
      rmSync(folder, { recursive: true });
    }
  },
};

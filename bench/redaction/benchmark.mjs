import { importSessions } from "../../packages/sessions/dist/index.js";
import { importer, nothing, scanner } from "./candidates.mjs";
import { FORMS, TEXTS } from "./cases.mjs";
import { measure } from "./measure.mjs";
import { sentences, summary } from "./report.mjs";
import { speed } from "./speed.mjs";

/** Figures are reported on this seed; rules are made on others. */
const REPORTED = "report-1";

/** A candidate by name: our importer, nothing, or a module of `adapters/` with its library in the folder `libraries`. */
async function candidateOf(name, libraries) {
  if (name === "imprint") return importer(importSessions);
  if (name === "nothing") return nothing;
  const { create } = await import(new URL(`adapters/${name}.mjs`, import.meta.url));
  return scanner(await create(libraries));
}

export const benchmark = {
  name: "redaction",
  description: "secrets found and texts wrongly changed by the importer, on a made-up corpus; --candidate compares libraries",
  options: {
    seed: { type: "string", default: REPORTED },
    half: { type: "string" },
    reveal: { type: "boolean", default: false },
    candidate: { type: "string", multiple: true, default: ["imprint"] },
    libraries: { type: "string", default: "." },
    speed: { type: "boolean", default: false },
  },
  async run({ options, rounds, print }) {
    const candidates = await Promise.all(options.candidate.map((name) => candidateOf(name, options.libraries)));
    const sides = options.half ? [options.half] : ["tune", "held-out"];
    const result = { seed: options.seed, forms: FORMS.length, texts: TEXTS.length, candidates: {} };
    print(`${FORMS.length} forms, ${TEXTS.length} texts that are no secrets, seed ${options.seed}`);
    for (const candidate of candidates) {
      const measured = await measure({ candidate, seed: options.seed });
      const figures = Object.fromEntries(sides.map((side) => [side, summary(measured, side, side === "tune" || options.reveal)]));
      result.candidates[candidate.name] = figures;
      for (const side of sides) for (const sentence of sentences(`${candidate.name}, ${side}`, figures[side])) print(sentence);
    }
    if (options.speed) result.speed = await speed({ candidates, rounds, print });
    return result;
  },
};

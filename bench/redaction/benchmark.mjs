import { importSessions } from "@imprint/sessions";

const CORPUS = "../../packages/sessions/test/redact/corpus";

/** How many of the results were hit, in all and by half. */
function rates(results) {
  const of = (half) => results.filter((one) => one.half === half);
  const share = (all) => ({ hits: all.filter((one) => one.hit).length, of: all.length });
  return { tune: share(of("tune")), "held-out": share(of("held-out")) };
}
const percent = ({ hits, of }) => `${((100 * hits) / of).toFixed(1)} % (${hits} of ${of})`;

/** Only rates: what was missed of a held-out half stays unknown to those who write the rules. */
export const benchmark = {
  name: "redaction",
  description: "secrets found and other texts changed, in the open and the held-out half of both corpora",
  options: { seed: { type: "string", default: "bench" } },
  async run({ options: { seed }, print }) {
    const { importer } = await import(`${CORPUS}/candidates.mjs`);
    const { measure, measureCases } = await import(`${CORPUS}/measure.mjs`);
    const { otherSecrets, otherTexts } = await import(`${CORPUS}/others/cases.mjs`);
    const candidate = importer(importSessions);
    const measured = {
      own: await measure({ candidate, seed }),
      others: await measureCases({ candidate, secrets: otherSecrets(seed), texts: otherTexts(seed) }),
    };
    const figures = {};
    for (const [name, { found, false: changed }] of Object.entries(measured)) {
      figures[name] = { found: rates(found), false: rates(changed) };
      for (const half of ["tune", "held-out"])
        print(`${name}, ${half}: found ${percent(figures[name].found[half])}, false ${percent(figures[name].false[half])}`);
    }
    return figures;
  },
};

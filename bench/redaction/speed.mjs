import { interleaved } from "../harness/pairs.mjs";
import { plainCases, secretCases } from "./cases.mjs";
import { recording } from "./session.mjs";

const CODE = `export function resolve(paths: readonly string[], root = "/srv/app"): string[] {
  // Later paths win, as in the shell.
  return paths.map((path) => (path.startsWith("/") ? path : \`\${root}/\${path}\`)).filter((path) => path !== "");
}
const table: Record<string, number> = { alpha: 1, beta: 22, gamma_ray: 333, "delta-wing": 4444 };
`;

/** Some 2 MB of recordings as agents leave them: code for the most part, with texts of the corpus between. */
function sample() {
  const corpus = [...plainCases("speed"), ...secretCases("speed")].map((one) => one.text).filter((text) => text !== undefined);
  const recordings = [];
  for (let index = 0; index < 200; index++)
    recordings.push(
      recording({ result: `${CODE.repeat(24)}\n${corpus[(index * 7) % corpus.length]}\n`, callId: `call_${index}` }),
    );
  return recordings;
}

/** MB of recorded text a second of processor time, all candidates in turn. */
export async function speed({ candidates, rounds, print }) {
  const recordings = sample();
  const megabytes = recordings.reduce((sum, one) => sum + Buffer.byteLength(one), 0) / 1e6;
  const work = (candidate) => async () => {
    for (const one of recordings) await candidate.read(one);
  };
  const times = await interleaved({ works: Object.fromEntries(candidates.map((one) => [one.name, work(one)])), rounds });
  return Object.fromEntries(
    Object.entries(times).map(([name, { median, min, max, ratio }]) => {
      const rates = { median: megabytes / median, min: megabytes / max, max: megabytes / min };
      const [middle, low, high] = [rates.median, rates.min, rates.max].map((value) => value.toFixed(2));
      print(`${name}: ${middle} MB/s (${low} to ${high}), time against the first ${ratio.median.toFixed(2)}`);
      return [name, { megabytes_per_second: rates, seconds: { median, min, max }, ratio }];
    }),
  );
}

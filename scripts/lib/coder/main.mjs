import { mkdtempSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { outcomeOf, told } from "../agents/told.mjs";
import { closing } from "../process/closing.mjs";
import { ROOT, main as setUp } from "../setup/main.mjs";
import { elapsed } from "../setup/reporter.mjs";

/** `npm run check-coder`: sets up, takes one step after the other, and closes with the sum. Resolves with the exit code. */
export async function main({ env = process.env, print = console.log } = {}) {
  const prepared = await setUp({ args: [], env });
  return prepared === 0 ? closing({ run: (signal) => walk({ root: ROOT, env, signal, print }), print }) : prepared;
}

/** Each step builds on those before it: the first that fails is the last. */
async function walk({ root, env, signal, print }) {
  // Exist once the set-up has built the packages.
  const { createPlace } = await import("./place.mjs");
  const { STEPS } = await import("./steps.mjs");
  const folder = mkdtempSync(path.join(os.tmpdir(), "imprint-coder-"));
  const place = createPlace({ folder, root, env, signal });
  const begun = Date.now();
  const outcomes = [];
  try {
    for (const [label, step] of STEPS) {
      outcomes.push(await told({ label, signal, print }, async () => ({ wrong: [], said: [], ...(await step(place)) })));
      if (outcomes.at(-1) !== null) break;
    }
  } finally {
    await place.close();
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  }
  print(`All of it took ${elapsed(Date.now() - begun)}; the load of this machine is ${os.loadavg()[0].toFixed(1)}.`);
  return [outcomeOf(outcomes)];
}

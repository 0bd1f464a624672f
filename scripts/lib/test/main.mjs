import { readFileSync } from "node:fs";
import path from "node:path";
import { parseArguments as parseAgents } from "../agents/arguments.mjs";
import { closing } from "../process/closing.mjs";
import { ROOT, main as setUp } from "../setup/main.mjs";
import { elapsed } from "../setup/reporter.mjs";
import { parseArguments } from "./arguments.mjs";
import { checks, secondSetup } from "./checks.mjs";
import { provideChromium } from "./chromium.mjs";
import { runChecks } from "./run-checks.mjs";
import { pytest, runSuite, vitest } from "./suites.mjs";

/** Everything that must hold, in one command. Resolves with the exit code; the last line it prints is the sum. */
export async function main({ args, env = process.env, root = ROOT, print = console.log }) {
  const { parts, rest, problem } = parseArguments(args);
  if (problem) {
    print(problem);
    return 2;
  }
  const started = Date.now();
  const prepared = await setUp({ args: ["--dev"], env, root });
  if (prepared !== 0) {
    print("0 passed, 1 failed");
    return prepared;
  }
  return closing({
    run: (signal) => runParts({ parts, rest, root, env, print, signal }),
    print,
    before: (failures) => {
      print(`\nTook ${elapsed(Date.now() - started)}.`);
      for (const failure of failures) print(`FAILED  ${failure}`);
    },
  });
}

async function runParts({ parts, rest, root, env, print, signal }) {
  const { python } = JSON.parse(readFileSync(path.join(root, ".imprint", "setup.json"), "utf8"));
  // A whole run judges the commit, not its luck: properties draw the same examples each time, as Hypothesis does where CI is set.
  const drawn = rest.length === 0 ? { CI: "true" } : {};
  // A test never waits for a model hub.
  const common = { env: { ...env, ...drawn, HF_HUB_OFFLINE: "1" }, signal, print };
  const outcomes = [];
  if (parts.includes("checks")) {
    outcomes.push(...(await runChecks({ ...common, checks: [secondSetup({ root })], atOnce: 1 })));
    outcomes.push(...(await runChecks({ ...common, checks: checks({ root, python }), atOnce: 2 })));
  }
  if (parts.includes("vitest")) await provideChromium(common);
  // One suite after the other: some tests measure answer times, and both use every core.
  if (parts.includes("vitest")) outcomes.push(await runSuite({ ...common, suite: vitest({ root, rest }) }));
  if (parts.includes("pytest")) outcomes.push(await runSuite({ ...common, suite: pytest({ root, python, rest }) }));
  if (parts.includes("agents"))
    outcomes.push(await runAgents({ ...common, ...parseAgents(parts.length === 1 ? rest : ["--scripted"]) }));
  return outcomes;
}

/** Real coding agents, beside the tests with a scripted model; loaded here, since their service exists once the set-up has built it. */
async function runAgents({ print, ...asked }) {
  const { checkAgents } = await import("../agents/check.mjs");
  const started = Date.now();
  const outcome = await checkAgents({ ...asked, print });
  const { passed, failures } = outcome;
  const verdict = failures.length === 0 ? "ok    " : "FAILED";
  print(`${verdict}  agents: ${passed} passed, ${failures.length} failed (${elapsed(Date.now() - started)})`);
  return outcome;
}

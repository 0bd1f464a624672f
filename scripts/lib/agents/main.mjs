import { Interrupted } from "../process/failures.mjs";
import { main as setUp } from "../setup/main.mjs";
import { sum } from "../test/verdict.mjs";
import { parseArguments } from "./arguments.mjs";

/** `npm run check-agents`: sets up, checks, and closes with the sum. Resolves with the exit code. */
export async function main({ args, env = process.env, print = console.log }) {
  const { names, only, problem } = parseArguments(args);
  if (problem) {
    print(problem);
    return 2;
  }
  const prepared = await setUp({ args: [], env });
  if (prepared !== 0) return prepared;
  const interrupt = new AbortController();
  for (const name of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(name, () => interrupt.abort());
  try {
    // Exists once the set-up has built the packages.
    const { checkAgents } = await import("./check.mjs");
    const { failures, line } = sum([await checkAgents({ names, only, env, signal: interrupt.signal, print })]);
    print(line);
    return failures.length === 0 ? 0 : 1;
  } catch (error) {
    if (!(error instanceof Interrupted)) throw error;
    print("Stopped.");
    return 130;
  }
}

import { closing } from "../process/closing.mjs";
import { main as setUp } from "../setup/main.mjs";
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
  const run = async (signal) => {
    // Exists once the set-up has built the packages.
    const { checkAgents } = await import("./check.mjs");
    return [await checkAgents({ names, only, env, signal, print })];
  };
  return closing({ run, print });
}

import { CommandFailure } from "../process/failures.mjs";
import { run } from "../process/run.mjs";
import { elapsed } from "../setup/reporter.mjs";

/** Runs the checks, `atOnce` at a time; each is one test. A check that fails shows what it said. */
export async function runChecks({ checks, atOnce, env, signal, print, now = Date.now }) {
  const left = [...checks];
  const outcomes = [];
  const worker = async () => {
    for (let check = left.shift(); check !== undefined; check = left.shift()) {
      const started = now();
      const problem = await problemOf(check, { env, signal });
      const took = elapsed(now() - started);
      print(problem === null ? `ok      ${check.name} (${took})` : `FAILED  ${check.name} (${took})\n${problem}`);
      outcomes.push(problem === null ? { passed: 1, failures: [] } : { passed: 0, failures: [check.name] });
    }
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
  return outcomes;
}

async function problemOf({ name, command, args, cwd, timeoutMs, mustSay }, { env, signal }) {
  try {
    const { output } = await run(command, args, { cwd, env, signal, timeoutMs, name });
    return mustSay === undefined || output.includes(mustSay) ? null : output;
  } catch (error) {
    if (!(error instanceof CommandFailure)) throw error;
    return `${error.output}\n${error.message}`;
  }
}

import { Interrupted } from "../process/failures.mjs";
import { elapsed } from "../setup/reporter.mjs";

const KEPT_LINES = 40;

/** Says how a check ended, and a step towards it where it took time; resolves with what failed in a line, or null. */
export async function told({ label, signal, print, isStep = false }, check) {
  const started = Date.now();
  const { wrong, said, remark } = await check().catch(asFailure);
  if (signal.aborted) throw new Interrupted();
  const took = Date.now() - started;
  if (wrong.length === 0 && isStep && took < 1000) return null;
  print(`${wrong.length === 0 ? "ok    " : "FAILED"}  ${label} (${elapsed(took)})${remark === undefined ? "" : `: ${remark}`}`);
  if (wrong.length === 0) return null;
  for (const sentence of wrong) print(`  ${sentence}`);
  for (const line of said.slice(-KEPT_LINES)) print(`  | ${line}`);
  return `${label}: ${wrong[0]}`;
}

/** What a program said that failed, or where an error of this check's own came from. */
const asFailure = (error) => ({ wrong: [error.message], said: (error.output ?? error.stack).trimEnd().split("\n") });

/** The sum of what `told` resolved with, as test suites have it. */
export const outcomeOf = (outcomes) => ({
  passed: outcomes.filter((wrong) => wrong === null).length,
  failures: outcomes.filter((wrong) => wrong !== null),
});

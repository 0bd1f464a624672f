import path from "node:path";
import { saidResult } from "@imprint/sessions";
import type { Ran } from "./shell-calls.js";
import { covers, type TestCommand, testCommand } from "./test-runner.js";

/** A run of tests that the recording holds. */
export interface TestRun {
  readonly tests: TestCommand;
  /** Where it ran, from the repository's top; "" there. */
  readonly folder: string;
  /** Null where neither its exit code nor its output says. */
  readonly passed: boolean | null;
  /** The place of its step in the session. */
  readonly step: number;
}

/** The exit code counts where it is this command's own; else what the runner says. */
function resultOf({ command: { told }, action: { exit, output } }: Ran): boolean | null {
  if (exit === 0 && told !== "nothing") return true;
  if (exit !== null && exit !== 0 && told === "end") return false;
  return saidResult(output)?.passed ?? null;
}

/** The runs of tests in a repository, whose top the recording calls `root`; what ran elsewhere is left out. */
export function testRuns(ran: readonly Ran[], root: string): readonly TestRun[] {
  return ran.flatMap((one) => {
    const folder = path.posix.relative(root, one.command.folder);
    const tests = testCommand(one.command.words);
    if (tests === null || folder.startsWith("..")) return [];
    const here = (text: string): string =>
      text.replaceAll(`${root}/`, folder === "" ? "" : `${path.posix.relative(folder, "")}/`);
    const own = { ...tests, text: here(tests.text), targets: tests.targets.map(here) };
    return [{ tests: own, folder, passed: resultOf(one), step: one.action.step }];
  });
}

const isKin = (one: TestRun, other: TestRun): boolean =>
  one.folder === other.folder && (covers(one.tests, other.tests) || covers(other.tests, one.tests));

/** A run as one command of a shell at the repository's top. */
export const checkOf = ({ tests, folder }: TestRun): string => (folder === "" ? tests.text : `cd ${folder} && ${tests.text}`);

export interface FoundChecks {
  /** Commands to try, the best first: those that failed before and passed last, the latest first; then those that only passed. */
  readonly checks: readonly TestRun[];
  /** Why there are none; null where there are some. */
  readonly why: string | null;
}

/** The commands that passed at the end. */
export function checksIn(runs: readonly TestRun[]): FoundChecks {
  const known = runs.filter(({ passed }) => passed !== null);
  const last = known.filter(
    (run, at) =>
      run.passed &&
      !known.slice(at + 1).some((later) => !later.passed && later.folder === run.folder && covers(run.tests, later.tests)),
  );
  const failedBefore = (run: TestRun): boolean =>
    known.slice(0, known.indexOf(run)).some((earlier) => !earlier.passed && isKin(earlier, run));
  const latest = last.toReversed();
  const ordered = [...latest.filter(failedBefore), ...latest.filter((run) => !failedBefore(run))];
  const checks = ordered.filter((run, at) => ordered.findIndex((one) => checkOf(one) === checkOf(run)) === at);
  if (runs.length === 0) return { checks, why: "the agent ran no test command" };
  if (known.length === 0) return { checks, why: "the recording does not say how its tests ended" };
  return { checks, why: checks.length === 0 ? "its tests failed at the end" : null };
}

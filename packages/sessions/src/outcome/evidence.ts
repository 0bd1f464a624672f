import type { Evidence, Session, Step } from "@imprint/contracts";
import { isRefusal } from "../values/refused.js";
import { commitOf, takesBack } from "./commits.js";
import { type Run, runsOf } from "./runs.js";
import { checkResult, testResult } from "./tests.js";
import { type Word, wordOf } from "./words.js";

const INTERRUPTED = /^(?:turn_aborted|interrupted|cancell?ed|aborted|user_interrupt)/i;
const EDITS = /edit|write(?!_stdin)|patch|replace|create_file|insert/i;

const isEdit = ({ name, given }: { readonly name: string; readonly given: string }): boolean =>
  EDITS.test(name) || /\bapply_patch\b/.test(given.slice(0, 200));

const quoted = (text: string): string => {
  const line = text.replace(/\s+/g, " ").trim();
  return `"${line.length > 60 ? `${line.slice(0, 59)}…` : line}"`;
};

const lastOf = <Found>(runs: readonly Run[], find: (run: Run) => Found | null): { run: Run; found: Found } | null => {
  for (const run of [...runs].reverse()) {
    const found = find(run);
    if (found !== null) return { run, found };
  }
  return null;
};

function ranTests(runs: readonly Run[]): readonly Evidence[] {
  const tests = lastOf(runs, testResult);
  const check = lastOf(runs, checkResult);
  return [
    ...(tests ? [{ kind: tests.found.passed ? "tests_passed" : "tests_failed", what: told(tests) } as const] : []),
    ...(check ? [{ kind: check.found.passed ? "check_passed" : "check_failed", what: told(check) } as const] : []),
  ];
}

const told = ({ run, found }: { run: Run; found: { readonly by: string } }): string => `${quoted(run.command)}: ${found.by}`;

/** Commits that stand at the end: one that is taken back takes the last one before it away. */
function commits(runs: readonly Run[]): readonly Evidence[] {
  const standing: Evidence[] = [];
  const reverted: Evidence[] = [];
  for (const run of runs) {
    const made = commitOf(run);
    if (made !== null) {
      const { hash, subject } = made;
      const what = hash === null ? quoted(run.command) : `${hash} ${quoted(subject)}`;
      standing.push({ kind: "commit", what, ...(hash !== null && { commit: hash }) });
    } else if (takesBack(run) && standing.pop() !== undefined) reverted.push({ kind: "reverted", what: quoted(run.command) });
  }
  return [...standing.slice(-3), ...reverted.slice(-1)];
}

const works = ({ tool_calls: calls = [] }: Step): boolean => calls.length > 0;

/** The person's last words, and whether the agent said anything after them: then a complaint may have been met. */
function lastWords(steps: readonly Step[]): readonly Evidence[] {
  const asked = steps.findIndex(({ source }) => source === "user");
  const at = steps.findLastIndex(({ source }) => source === "user");
  const word: Word | null = at > asked ? wordOf(steps[at]?.text ?? "") : null;
  if (word === null) return [];
  const kind =
    word === "thanks" ? "thanks" : steps.slice(at).some(({ source }) => source === "agent") ? "complaint_answered" : "complaint";
  return [{ kind, what: quoted(steps[at]?.text ?? "") }];
}

/** A plan that is refused is often one that another session carries out. */
const PLANS = /^exit_?plan_?mode$/i;

/** How the recording ends: broken off by the person, in the middle of a call, or with an answer; and whether the last call failed. */
function ending({ steps, signal }: { readonly steps: readonly Step[]; readonly signal: string | null }): readonly Evidence[] {
  if (signal !== null && INTERRUPTED.test(signal)) return [{ kind: "interrupted", what: signal }];
  const last = steps.findLast(({ source }) => source === "agent");
  const calls = steps.flatMap(({ tool_calls = [], observations = [] }) =>
    tool_calls.map(({ id, name, arguments: given }) => ({
      name,
      given,
      result: observations.find(({ call_id }) => call_id === id),
    })),
  );
  const end = calls.at(-1);
  if (last === undefined || end === undefined) return [];
  const { name, result } = end;
  if (works(last))
    return result && isRefusal(result.content) && !PLANS.test(name)
      ? [{ kind: "interrupted", what: `${name} was refused` }]
      : [{ kind: "cut_off", what: `ends with ${name}, without an answer` }];
  const edits = calls.filter((one) => isEdit(one) && one.result && one.result.is_error !== true).length;
  const answer = edits > 0 ? `${edits === 1 ? "1 edit" : `${edits} edits`}, and an answer at the end` : "an answer at the end";
  return [
    ...(last.text.trim() === "" ? [] : [{ kind: edits > 0 ? "answered" : "replied", what: answer } as const]),
    ...(result?.is_error === true ? [{ kind: "call_failed", what: `${name} failed last` } as const] : []),
  ];
}

/** What is looked at besides the person's last words: what was tested or committed long before says little of how it ended. */
const REQUESTS = 2;

function lastRequests(steps: readonly Step[]): readonly Step[] {
  const asked = steps.flatMap(({ source }, at) => (source === "user" ? [at] : []));
  return steps.slice(asked.at(-REQUESTS) ?? 0);
}

/** What a session shows of how it ended, each in words. The first request is no evidence, nor is what was copied. */
export function evidenceOf({
  steps: all,
  outcome_signal: signal,
}: Pick<Session, "steps" | "outcome_signal">): readonly Evidence[] {
  const steps = all.filter(({ context_only: why }) => why !== "copied" && why !== "synthetic");
  const late = lastRequests(steps);
  const runs = late.flatMap(runsOf);
  return [...lastWords(steps), ...ending({ steps: late, signal }), ...ranTests(runs), ...commits(runs)];
}

import type { Run } from "./runs.js";

/** Words that name a runner of tests, in any shell command. */
const RUNS_TESTS =
  /\b(?:pytest|py\.test|vitest|jest|mocha|playwright test|go test|cargo (?:nex)?test|tox|nox|rspec|phpunit|ctest|runtests\.py|unittest|node --test|tap)\b|\b(?:npm|pnpm|yarn|bun|make|mvn|gradlew?|dotnet|deno|swift|mix|rtk)\b[^|;&\n]*\btests?\b/;
const CHECKS =
  /\b(?:tsc|eslint|biome|ruff|mypy|pyright|clippy|cargo (?:check|build)|go (?:build|vet)|next build|astro build|vite build|webpack)\b|\b(?:npm|pnpm|yarn|bun|make|mvn|gradlew?|dotnet|rtk)\b[^|;&\n]*\b(?:build|lint|typecheck|type-check|check|compile|verify)\b/;

/** What runners write at their end, each with what says that a test failed; the failing form comes first. */
const FAILED = [
  /^=+ .*\b([1-9]\d* (?:failed|errors?))\b.*=+$/m, // pytest
  /^(?:FAILED|ERROR) \S+::/m,
  /\bTests:?\s+.*?\b([1-9]\d* failed)\b/m, // vitest, jest
  /^FAILED \((?:failures|errors)=\d+/m, // unittest
  /^(?:--- )?FAIL\b/m, // go, jest's files
  /^test result: FAILED/m, // cargo
  /^\s*([1-9]\d*) fail(?:ing|ed|ures?)?\b/m, // mocha, bun
  /^# fail [1-9]/m, // node, TAP
  /\b\d+ examples?, [1-9]\d* failures?/,
  /\bTests run: \d+, (?:Failures: [1-9]|Failures: 0, Errors: [1-9])/,
  /^BUILD FAILURE|\bBUILD FAILED\b/m,
  /\bFailed: +[1-9]\d*, Passed/, // dotnet
] as const;
const PASSED = [
  /^=+ .*\b(\d+ passed)\b.*=+$/m,
  /^(\d+ passed)(?:, \d+ \w+)* in [\d.]+s/m,
  /\bTests:?\s+.*?\b(\d+ passed)\b/m,
  /^Ran (\d+ tests?) in [\d.]+s\s+OK\b/m,
  /^ok\s+\S+\s+(?:[\d.]+s|\(cached\))/m,
  /^test result: ok\. (\d+ passed)/m,
  /^\s*(\d+ pass(?:ing|ed)?)\b/m,
  /^# pass [1-9]/m,
  /\b(\d+ examples?), 0 failures/,
  /\bTests run: \d+, Failures: 0, Errors: 0/,
  /^OK \(\d+ tests?/m,
  /\ball (?:\d+ )?tests? passed\b/im,
  /\bPassed! +- Failed: +0/,
] as const;

const ESCAPE = "\\u001b";
/** Some recordings lose the first character of a colour. */
const COLOURS = new RegExp(`${ESCAPE}?\\[[\\d;]*m`, "g");

export interface TestResult {
  readonly passed: boolean;
  /** By what it is known: the runner's own words, or the exit code. */
  readonly by: string;
}

const wordsOf = (found: RegExpExecArray): string => (found[1] ?? found[0]).trim().slice(0, 60);

/** How tests ended, by their runner's closing lines and else by its exit code; null of what runs none, or does not say it. */
export function testResult({ command, output, passed }: Run): TestResult | null {
  if (output === null || !RUNS_TESTS.test(command)) return null;
  const text = output.replace(COLOURS, "");
  for (const [lines, outcome] of [
    [FAILED, false],
    [PASSED, true],
  ] as const)
    for (const line of lines) {
      const found = line.exec(text);
      if (found) return { passed: outcome, by: wordsOf(found) };
    }
  return passed === null ? null : { passed, by: passed ? "exit code 0" : "exit code not 0" };
}

/** How a build, a linter or a type checker ended: by its exit code, or by what all of them write of errors. */
export function checkResult({ command, output, passed }: Run): TestResult | null {
  if (output === null || !CHECKS.test(command) || RUNS_TESTS.test(command)) return null;
  if (passed !== null) return { passed, by: passed ? "exit code 0" : "exit code not 0" };
  const failure = /\b[1-9]\d* errors?\b|\berror(?:\[\w+\]| TS\d+)?:|\bFailed to compile\b/i.exec(output.replace(COLOURS, ""));
  return failure ? { passed: false, by: wordsOf(failure) } : { passed: true, by: "no error in its output" };
}

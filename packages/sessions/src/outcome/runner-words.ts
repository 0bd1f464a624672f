/** What runners of tests write at their end, each with what says that a test failed; the failing form comes first. */
const FAILED = [
  /^=+ .*\b([1-9]\d* (?:failed|errors?))\b.*=+$/m, // pytest
  /^([1-9]\d* (?:failed|errors?))\b.* in [\d.]+s/m, // pytest -q
  /^(?:FAILED|ERROR) \S+::/m,
  /^\s*(?:Tests|Test Files|Test Suites):?\s+.*?\b([1-9]\d* failed)\b/m, // vitest, jest
  /^FAILED \((?:failures|errors|unexpected)/m, // unittest
  /^(?:--- )?FAIL\b/m, // go, jest's files
  /^test result: FAILED/m, // cargo
  /^error(?:\[E\d+\])?: /m, // cargo, where it does not compile
  /^\s*([1-9]\d*) fail(?:ing|ed|ures?)?\b/m, // mocha, bun
  /^(?:#|ℹ) fail [1-9]/m, // node
  /^not ok \d/m, // TAP
  /\b\d+ examples?, [1-9]\d* failures?/,
  /\bTests run: \d+, (?:Failures: [1-9]|Failures: 0, Errors: [1-9])/,
  /^BUILD FAILURE|\bBUILD FAILED\b/m,
  /\bFailed: +[1-9]\d*, Passed/, // dotnet
  /no tests ran|ERROR: file or directory not found|ERROR collecting|ModuleNotFoundError: /,
  /^make: \*\*\* |^npm ERR! |ERR_PNPM/m,
] as const;
const PASSED = [
  /^=+ .*\b(\d+ passed)\b.*=+$/m,
  /^([1-9]\d* passed)\b.* in [\d.]+s/m,
  /^\s*(?:Tests|Test Files):?\s+.*?\b(\d+ passed)\b/m,
  /^Ran (\d+ tests?) in [\d.]+s\s+OK\b/m,
  /^OK(?: \(.*\))?\s*$/m,
  /^ok\s+\S+\s+(?:[\d.]+s|\(cached\))/m,
  /^test result: ok\.(?: (\d+ passed))?/m,
  /^\s*(\d+ pass(?:ing|ed)?)\b/m,
  /^(?:#|ℹ) (?:pass [1-9]|fail 0\s*$)/m,
  /\b(\d+ examples?), 0 failures/,
  /\bTests run: \d+, Failures: 0, Errors: 0/,
  /\ball (?:\d+ )?tests? passed\b/im,
  /\bPassed! +- Failed: +0/,
  /^1\.\.[1-9]\d*$/m,
  /^\s*0 fail$/m,
] as const;

const ESCAPE = "\\u001b";
/** Some recordings lose the first character of a colour. */
const COLOURS = new RegExp(`${ESCAPE}?\\[[\\d;]*m`, "g");

export interface TestResult {
  readonly passed: boolean;
  /** By what it is known: the runner's own words, or the exit code. */
  readonly by: string;
}

export const plainOutput = (output: string): string => output.replaceAll(COLOURS, "").replaceAll("\r", "");

export const wordsOf = (found: RegExpExecArray): string => (found[1] ?? found[0]).trim().slice(0, 60);

/** How tests ended by their runner's own words; null where it says nothing that is known. */
export function saidResult(output: string): TestResult | null {
  const text = plainOutput(output);
  for (const [lines, passed] of [
    [FAILED, false],
    [PASSED, true],
  ] as const)
    for (const line of lines) {
      const found = line.exec(text);
      if (found) return { passed, by: wordsOf(found) };
    }
  return null;
}

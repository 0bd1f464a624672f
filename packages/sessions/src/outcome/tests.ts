import { plainOutput, saidResult, type TestResult, wordsOf } from "./runner-words.js";
import type { Run } from "./runs.js";

/** Words that name a runner of tests, in any shell command. */
const RUNS_TESTS =
  /\b(?:pytest|py\.test|vitest|jest|mocha|playwright test|go test|cargo (?:nex)?test|tox|nox|rspec|phpunit|ctest|runtests\.py|unittest|node --test|tap)\b|\b(?:npm|pnpm|yarn|bun|make|mvn|gradlew?|dotnet|deno|swift|mix|rtk|(?:just|task|mise|rake)(?= ))\b[^|;&\n]*\btests?\b/;
const CHECKS =
  /\b(?:tsc|eslint|biome|ruff|mypy|pyright|clippy|cargo (?:check|build)|go (?:build|vet)|next build|astro build|vite build|webpack)\b|\b(?:npm|pnpm|yarn|bun|make|mvn|gradlew?|dotnet|rtk)\b[^|;&\n]*\b(?:build|lint|typecheck|type-check|check|compile|verify)\b/;

/** How tests ended, by their runner's closing lines and else by its exit code; null of what runs none, or does not say it. */
export function testResult({ command, output, passed }: Run): TestResult | null {
  if (output === null || !RUNS_TESTS.test(command)) return null;
  return saidResult(output) ?? (passed === null ? null : { passed, by: passed ? "exit code 0" : "exit code not 0" });
}

/** How a build, a linter or a type checker ended: by its exit code, or by what all of them write of errors. */
export function checkResult({ command, output, passed }: Run): TestResult | null {
  if (output === null || !CHECKS.test(command) || RUNS_TESTS.test(command)) return null;
  if (passed !== null) return { passed, by: passed ? "exit code 0" : "exit code not 0" };
  const failure = /\b[1-9]\d* errors?\b|\berror(?:\[\w+\]| TS\d+)?:|\bFailed to compile\b/i.exec(plainOutput(output));
  return failure ? { passed: false, by: wordsOf(failure) } : { passed: true, by: "no error in its output" };
}

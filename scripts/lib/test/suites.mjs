import { existsSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import path from "node:path";
import process from "node:process";
import { CommandFailure } from "../process/failures.mjs";
import { run } from "../process/run.mjs";
import { elapsed } from "../setup/reporter.mjs";
import { readJunit, readVitest } from "./reports.mjs";
import { judgeSuite } from "./verdict.mjs";

// Beyond this a suite hangs, also on a slow machine; it is ended with all that it started.
const TIMEOUT_MS = 45 * 60_000;

export function vitest({ root, rest }) {
  const report = path.join(root, ".imprint", "reports", "vitest.json");
  const script = path.join(root, "node_modules", "vitest", "vitest.mjs");
  const reporters = ["--reporter=default", "--reporter=json", `--outputFile.json=${report}`];
  const args = [script, "run", ...reporters, "--silent=passed-only", "--no-color", ...rest];
  return { name: "vitest", command: process.execPath, args, cwd: root, report, read: readVitest };
}

export function pytest({ root, python, rest }) {
  const report = path.join(root, ".imprint", "reports", "pytest.xml");
  // Each test computes on one core. A file or two are not worth a second process.
  const atOnce = rest.length === 0 ? ["-n", "2", "--dist", "loadfile"] : [];
  const args = ["-m", "pytest", "-q", "--no-header", "--durations=5", `--junitxml=${report}`, ...atOnce, ...rest];
  return { name: "pytest", command: python, args, cwd: path.join(root, "trainer"), report, read: readJunit };
}

/** Runs one suite, passes its lines on, and judges its report. */
export async function runSuite({ suite, env, signal, print, now = Date.now }) {
  const { name, command, args, cwd, report, read } = suite;
  mkdirSync(path.dirname(report), { recursive: true });
  rmSync(report, { force: true });
  const started = now();
  let problem = null;
  try {
    await run(command, args, {
      cwd,
      env,
      signal,
      timeoutMs: TIMEOUT_MS,
      name,
      onLine: (line) => print(line === "" ? "" : `  ${line}`),
    });
  } catch (error) {
    if (!(error instanceof CommandFailure)) throw error;
    problem = error.message;
  }
  const outcome = judgeSuite({
    name,
    report: existsSync(report) ? read(readFileSync(report, "utf8")) : null,
    exited: { problem },
  });
  const verdict = outcome.failures.length === 0 ? "ok    " : "FAILED";
  print(`${verdict}  ${name}: ${outcome.passed} passed, ${outcome.failures.length} failed (${elapsed(now() - started)})`);
  return outcome;
}

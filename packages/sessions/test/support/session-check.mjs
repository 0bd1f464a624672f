import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { filesBelow, sourceFile } from "../../../../scripts/lib/canonical-sessions.mjs";

// Compares what the importers report of recorded sessions with what a table of them expects.

const COUNTS = ["user_turns", "assistant_turns", "tool_calls", "tool_results", "bad_lines"];
/** The table's names of formats that Imprint names otherwise. */
const FORMAT_NAMES = { rune: "native" };

async function filesOf(path) {
  if (!(await stat(path)).isDirectory()) return [sourceFile(join(path, ".."), path)];
  return (await filesBelow(path)).map((file) => sourceFile(path, file));
}

const agrees = (actual, expected) =>
  expected === null ||
  expected === undefined ||
  (typeof expected === "number" ? actual === expected : actual >= expected.min && actual <= expected.max);

function differences(report, signal, expected) {
  const format = FORMAT_NAMES[expected.format] ?? expected.format;
  return [
    ...COUNTS.filter((key) => !agrees(report[key], expected[key])).map(
      (key) => `${key}: ${report[key]}, expected ${JSON.stringify(expected[key])}`,
    ),
    ...(report.format === format ? [] : [`format: ${report.format}, expected ${format}`]),
    ...("final_signal" in expected && signal !== expected.final_signal
      ? [`end signal: ${signal}, expected ${expected.final_signal}`]
      : []),
  ];
}

/** A file without any defined number may also be refused. */
const mayBeRefused = (expected) => COUNTS.slice(0, 4).every((key) => expected[key] === null);

async function check(sessions, path, expected) {
  try {
    const imported = await sessions.importSessions(await filesOf(path));
    const signal = imported.sessions.length === 1 ? imported.sessions[0].outcome_signal : null;
    return differences(sessions.inspectReport(imported), signal, expected);
  } catch (error) {
    if (error?.code !== "SESSION_UNREADABLE") return [`crashed: ${error?.stack ?? error}`];
    return mayBeRefused(expected) ? [] : [`refused: ${error.message}`];
  }
}

/**
 * Reads every path that `expected.json` in the folder names. `sessions` is the package @imprint/sessions, built or not.
 * Answers how many paths agree, and for each one that does not its name and the differences.
 */
export async function checkSessions(sessions, directory) {
  const expectations = Object.entries(JSON.parse(await readFile(join(directory, "expected.json"), "utf8")));
  const failed = [];
  for (const [name, expected] of expectations) {
    const found = await check(sessions, join(directory, name), expected);
    if (found.length > 0) failed.push({ name, differences: found });
  }
  return { passed: expectations.length - failed.length, failed };
}

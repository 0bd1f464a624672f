#!/usr/bin/env node
// Reads every path that DIR/expected.json names with the built importers and compares what they report with what it expects.
import { createReadStream } from "node:fs";
import { readdir, readFile, stat } from "node:fs/promises";
import { join, relative } from "node:path";
import { importSessions, inspectReport, SessionUnreadable } from "../packages/sessions/dist/index.js";

const COUNTS = ["user_turns", "assistant_turns", "tool_calls", "tool_results", "bad_lines"];
/** The table's names of formats that Imprint names otherwise. */
const FORMAT_NAMES = { rune: "native" };

const sourceFile = (root, path) => ({ name: relative(root, path), bytes: () => createReadStream(path) });

async function filesOf(path) {
  if (!(await stat(path)).isDirectory()) return [sourceFile(join(path, ".."), path)];
  const entries = await readdir(path, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => sourceFile(path, join(entry.parentPath, entry.name)));
}

const agrees = (actual, expected) =>
  expected === null ||
  expected === undefined ||
  (typeof expected === "number" ? actual === expected : actual >= expected.min && actual <= expected.max);

function differences(imported, expected) {
  const report = inspectReport(imported);
  const format = FORMAT_NAMES[expected.format] ?? expected.format;
  const signal = imported.sessions.length === 1 ? imported.sessions[0].outcome_signal : null;
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
const mayBeRefused = (expected) =>
  ["user_turns", "assistant_turns", "tool_calls", "tool_results"].every((key) => expected[key] === null);

async function check(path, expected) {
  try {
    return differences(await importSessions(await filesOf(path)), expected);
  } catch (error) {
    if (!(error instanceof SessionUnreadable)) return [`crashed: ${error?.stack ?? error}`];
    return mayBeRefused(expected) ? [] : [`refused: ${error.message}`];
  }
}

const directory = process.argv[2];
if (directory === undefined) {
  console.error("Usage: npm run check-sessions -- DIR (a folder with expected.json and the session files it names)");
  process.exit(2);
}
const expectations = Object.entries(JSON.parse(await readFile(join(directory, "expected.json"), "utf8")));
let failed = 0;
for (const [name, expected] of expectations) {
  const found = await check(join(directory, name), expected);
  if (found.length > 0) failed++;
  for (const difference of found) console.log(`${name}: ${difference}`);
}
console.log(`${expectations.length - failed} passed, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;

#!/usr/bin/env node
// Reads every path that DIR/expected.json names with the built importers and compares what they report with what it expects.
import * as sessions from "../packages/sessions/dist/index.js";
import { checkSessions } from "../packages/sessions/test/support/session-check.mjs";

const directory = process.argv[2];
if (directory === undefined) {
  console.error("Usage: npm run check-sessions -- DIR (a folder with expected.json and the session files it names)");
  process.exit(2);
}
const { passed, failed } = await checkSessions(sessions, directory);
for (const { name, differences } of failed) for (const difference of differences) console.log(`${name}: ${difference}`);
console.log(`${passed} passed, ${failed.length} failed`);
process.exitCode = failed.length === 0 ? 0 : 1;

#!/usr/bin/env node
// Runs the attempts again and writes the recorded sessions from what python3 says. `--check` compares instead of writing.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { runAttempts } from "./lib/attempts.mjs";
import { claudeCodeLines } from "./lib/claude-code.mjs";
import { nativeSession } from "./lib/native.mjs";

const here = path.dirname(fileURLToPath(import.meta.url));
const project = path.join(here, "harborline");
const recording = {
  sessionId: "harborline-gates",
  sessionUuid: "5b0f6d1e-9c44-4a7b-8f12-7413c0ffee01",
  startedAt: "2026-11-21T04:55:00.000Z",
  task: readFileSync(path.join(project, "task.md"), "utf8").trim(),
  remarks: readFileSync(path.join(project, "remarks.md"), "utf8").trim().split("\n\n"),
  attempts: runAttempts(project),
};
const files = {
  [`${recording.sessionId}.json`]: `${JSON.stringify(nativeSession(recording), null, 2)}\n`,
  [`claude-code/${recording.sessionUuid}.jsonl`]: claudeCodeLines(recording)
    .map((line) => `${JSON.stringify(line)}\n`)
    .join(""),
};

let stale = 0;
for (const [name, text] of Object.entries(files)) {
  const file = path.join(here, "sessions", name);
  if (!process.argv.includes("--check")) {
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, text);
    console.log(`wrote sessions/${name} (${text.length} characters)`);
  } else if (readFileSync(file, "utf8") !== text) {
    stale += 1;
    console.error(`sessions/${name} differs from what the attempts give now`);
  }
}
process.exitCode = stale === 0 ? 0 : 1;

#!/usr/bin/env node
// npm run check-lessons -- DIR... [--base FOLDER] [--max-length N...]: whether what the sessions of folders teach can be learned from
// what stands before it, in windows of the default model. Exit code 1 when a lesson has a fault.
import { mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { canonicalLines } from "./lib/canonical-sessions.mjs";
import { defaultModel, refuse, runTrainer, userPath } from "./lib/trainer.mjs";

const USAGE = "usage: npm run check-lessons -- DIR... [--base FOLDER] [--max-length N]...";
const OPTIONS = { base: { type: "string" }, "max-length": { type: "string", multiple: true } };

function readArguments() {
  try {
    return parseArgs({ options: OPTIONS, allowPositionals: true });
  } catch (error) {
    return refuse(`${error.message}\n${USAGE}`);
  }
}

const { values, positionals } = readArguments();
if (positionals.length === 0) refuse(USAGE);
const folders = positionals.map(userPath);
const missing = folders.find((folder) => !statSync(folder, { throwIfNoEntry: false })?.isDirectory());
if (missing !== undefined) refuse(`${missing} is no folder: name one with recorded sessions.`);

const temporary = mkdtempSync(join(tmpdir(), "imprint-lessons-"));
process.on("exit", () => rmSync(temporary, { recursive: true, force: true }));
const file = join(temporary, "sessions.jsonl");
for (const folder of folders) for await (const line of canonicalLines(folder)) writeFileSync(file, line, { flag: "a" });
if (!statSync(file, { throwIfNoEntry: false })) refuse(`There is no session in ${folders.join(", ")}.`);

const base = values.base === undefined ? defaultModel() : userPath(values.base);
const lengths = values["max-length"] ?? [];
runTrainer(["imprint_trainer", "lessons", file, "--base", base, ...(lengths.length > 0 ? ["--max-length", ...lengths] : [])]);

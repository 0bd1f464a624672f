import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { listedFiles } from "../house/files.mjs";
import { closing } from "../process/closing.mjs";
import { CommandFailure } from "../process/failures.mjs";
import { run } from "../process/run.mjs";
import { ROOT } from "../setup/main.mjs";
import { findPython } from "../trainer.mjs";

/** Runs tests where the sources are; a child's program is the root's build, so no mutant may be of what a child alone runs. */
const LINKED = ["node_modules", ".imprint"];
const LONGEST_MS = 10 * 60_000;

const ITEM = /^\*\*(.+?)\.\*\* Withstands .+?\. Tests: (.+?)\. Broken by `(.+?)`: `(.+?)` → (?:nothing|`(.+?)`)\.$/;

/** The promises of docs/guarantees.md, in its order. Throws an Error for an item that is written otherwise. */
export function promisesIn(page) {
  return page
    .split(/^\d+\. /m)
    .slice(1)
    .map((item) => {
      const [, promise, tests, file, is, becomes = ""] = ITEM.exec(item.trim().replace(/\s+/g, " ")) ?? [];
      if (promise === undefined) throw new Error(`docs/guarantees.md: an item is no promise with tests and a change: ${item}`);
      return { promise, tests: tests.split(", ").map((name) => name.slice(1, -1)), mutant: { file, is, becomes } };
    });
}

/** The text of a promise's file with what breaks the promise. Throws an Error where it is not there exactly once. */
export function mutated({ promise, mutant: { file, is, becomes } }, text) {
  const [before, after, ...more] = text.split(is);
  if (after === undefined || more.length > 0) throw new Error(`${file} holds "${is}" ${more.length + 1} times: "${promise}"`);
  return before + becomes + after;
}

/** A folder with the tree's files, and links to what was installed and prepared for it. */
export function copyOf(root) {
  const folder = mkdtempSync(path.join(os.tmpdir(), "imprint-copy-"));
  const files = listedFiles(root, ["-co", "--exclude-standard"]);
  for (const file of files.filter((name) => !LINKED.includes(name))) cpSync(path.join(root, file), path.join(folder, file));
  for (const name of LINKED) symlinkSync(path.join(root, name), path.join(folder, name));
  return folder;
}

/** Null where all tests pass, else the last of what was said. */
async function problemOf(tests, { folder, python, signal }) {
  const options = { signal, timeoutMs: LONGEST_MS, env: { ...process.env, PYTHONPATH: "src", HF_HUB_OFFLINE: "1" } };
  const inTrainer = tests.filter((file) => file.startsWith("trainer/")).map((file) => path.relative("trainer", file));
  const others = tests.filter((file) => !file.startsWith("trainer/"));
  const vitest = path.join("node_modules", "vitest", "vitest.mjs");
  try {
    if (others.length > 0) await run(process.execPath, [vitest, "run", ...others], { ...options, cwd: folder, name: "vitest" });
    if (inTrainer.length > 0)
      await run(python, ["-m", "pytest", "-q", "-x", ...inTrainer], {
        ...options,
        cwd: path.join(folder, "trainer"),
        name: "pytest",
      });
    return null;
  } catch (error) {
    if (!(error instanceof CommandFailure)) throw error;
    return error.message;
  }
}

/** Resolves with the exit code; its last line says "N passed, M failed": a promise, and a mutant, is one each. */
export async function main({ args, root = ROOT, print = console.log }) {
  const promises = promisesIn(readFileSync(path.join(root, "docs", "guarantees.md"), "utf8"));
  const numbers = args.length > 0 ? args.map(Number) : promises.map((_, at) => at + 1);
  if (numbers.some((number) => promises[number - 1] === undefined)) {
    print(`usage: npm run guarantees [-- NUMBER...], of 1 to ${promises.length}`);
    return 2;
  }
  const python = findPython();
  const folder = copyOf(root);
  try {
    return await closing({
      print,
      run: async (signal) => {
        const outcomes = [];
        for (const number of numbers) {
          const one = promises[number - 1];
          const { failures, problem } = await check(one, { folder, python, signal });
          print(`${failures.length === 0 ? "ok    " : "FAILED"}  ${number}. ${[one.promise, ...failures].join("\n        ")}`);
          if (problem) print(problem);
          outcomes.push({ passed: 2 - failures.length, failures: failures.map((one) => `${number}. ${one}`) });
        }
        return outcomes;
      },
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** What is wrong with a promise, and what its tests said where they fail as it is. */
async function check(one, at) {
  const broken = await problemOf(one.tests, at);
  if (broken !== null) return { failures: ["its tests fail", "its change was not made"], problem: broken };
  const file = path.join(at.folder, one.mutant.file);
  const text = readFileSync(file, "utf8");
  writeFileSync(file, mutated(one, text));
  const caught = await problemOf(one.tests, at);
  writeFileSync(file, text);
  return { failures: caught === null ? [`its tests pass without it: ${one.mutant.file}`] : [] };
}

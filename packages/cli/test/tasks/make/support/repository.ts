import { execFileSync } from "node:child_process";
import { mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { onTestFinished } from "vitest";
import type { Act, Story } from "./recordings.js";

export const BEGAN = Date.UTC(2026, 0, 5, 10);
const HOUR = 3_600_000;

export const WRONG = "export const add = (a, b) => a - b;\n";
export const RIGHT = "export const add = (a, b) => a + b;\n";
const OLD_TEST = 'import test from "node:test";\n\ntest("nothing yet", () => {});\n';
export const TEST = `import assert from "node:assert/strict";
import test from "node:test";
import { add } from "../src/add.js";

test("adds", () => assert.equal(add(2, 3), 5));
`;
export const CHECK = "node --test test/add.test.js";
const FAILED = "not ok 1 - adds\n# tests 1\n# pass 0\n# fail 1\n";
const PASSED = "ok 1 - adds\n# tests 1\n# pass 1\n# fail 0\n";

/** Where sessions of another machine say that they were. */
export const ELSEWHERE = "/home/marta/code/sums";

export interface Repository {
  readonly folder: string;
  git(...args: readonly string[]): string;
  /** Lets what git does next happen at a time, in hours after the session began. */
  setClock(hours: number): void;
  write(file: string, text: string): Promise<void>;
  /** Commits all at a time, in hours after the session began; answers with the commit. */
  commit(message: string, hours: number): string;
}

/** A real repository of two commits from before the session. */
export async function repository(): Promise<Repository & { readonly start: string }> {
  const folder = await realpath(await mkdtemp(path.join(tmpdir(), "imprint-made-")));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const { PATH = "" } = process.env;
  const clock = { hours: -48 };
  const git = (...args: readonly string[]): string => {
    const date = new Date(BEGAN + clock.hours * HOUR).toISOString();
    const names = {
      GIT_AUTHOR_NAME: "a",
      GIT_AUTHOR_EMAIL: "a@localhost",
      GIT_COMMITTER_NAME: "a",
      GIT_COMMITTER_EMAIL: "a@localhost",
    };
    const env = { PATH, HOME: folder, ...names, GIT_AUTHOR_DATE: date, GIT_COMMITTER_DATE: date, GIT_CONFIG_GLOBAL: "/dev/null" };
    return execFileSync("git", args, { cwd: folder, env, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] }).trim();
  };
  const write = async (file: string, text: string): Promise<void> => {
    const at = path.join(folder, file);
    await mkdir(path.dirname(at), { recursive: true });
    await writeFile(at, text);
  };
  const commit = (message: string, hours: number): string => {
    clock.hours = hours;
    git("add", "--all");
    git("commit", "--quiet", "--message", message);
    return git("rev-parse", "HEAD");
  };
  git("init", "--quiet", "--initial-branch=main");
  await write("package.json", '{ "type": "module" }\n');
  await write("src/add.js", "export const add = () => 0;\n");
  await write("test/add.test.js", OLD_TEST);
  commit("Begin", -48);
  await write("src/add.js", WRONG);
  const setClock = (hours: number): void => {
    clock.hours = hours;
  };
  return { folder, git, setClock, write, commit, start: commit("Subtract", -24) };
}

/** A session that mends the sum: it reads, writes a test that fails, edits, and sees it pass. */
export const ACTS: readonly Act[] = [
  { asks: "Make add really add, with a test" },
  { reads: "src/add.js", text: WRONG },
  { reads: "test/add.test.js", text: OLD_TEST },
  { writes: "test/add.test.js", text: TEST },
  { runs: `${CHECK} 2>&1`, output: FAILED, code: 1 },
  { replaces: "src/add.js", old: WRONG.trim(), text: RIGHT.trim() },
  { runs: `timeout 60 ${CHECK}`, output: PASSED, code: 0 },
];

export const story = (acts: readonly Act[] = ACTS, folder = ELSEWHERE): Story => ({ folder, branch: "main", at: BEGAN, acts });

import { type Git, linesOf } from "./git.js";

/** A state that a solution leads to, and how it was found. */
export interface Solution {
  /** A patch that git applies to the state at the start. */
  readonly patch: string;
  /** Test files that it changes or adds, with their text at the end. */
  readonly tests: Readonly<Record<string, string>>;
  /** Where it comes from, as a sentence's part. */
  readonly from: string;
}

const TEST_FILE =
  /(?:^|\/)(?:tests?|__tests__|specs?|testing|testdata)\/|(?:^|\/)(?:test_[^/]*|conftest\.py|[^/]*[._-](?:test|spec)\.\w+|[^/]*_test\.\w+|tests?\.\w+)$/;
/** What agents and their recorders keep beside the code. */
const RECORDINGS = [".specstory", ".entire", ".claude", ".codex", ".opencode"];
const MOST_TEXT = 1_000_000; // characters of one test file

/** The solution between two commits; null where they hold the same. */
export async function solutionBetween(git: Git, [start, end]: readonly [string, string], from: string): Promise<Solution | null> {
  const without = RECORDINGS.map((folder) => `:(top,exclude)${folder}`);
  const patch = await git(
    "diff",
    "--binary",
    "--full-index",
    "--no-ext-diff",
    "--no-renames",
    start,
    end,
    "--",
    ":/",
    ...without,
  );
  if (patch === null || patch.trim() === "") return null;
  const changed = linesOf(
    await git("diff", "--name-only", "--no-renames", "--diff-filter=AM", start, end, "--", ":/", ...without),
  );
  const tests: Record<string, string> = {};
  for (const file of changed.filter((one) => TEST_FILE.test(one))) {
    const text = await git("show", `${end}:${file}`);
    if (text !== null && text.length <= MOST_TEXT && !text.includes("\0") && !text.includes("�")) tests[file] = text;
  }
  return { patch, tests, from };
}

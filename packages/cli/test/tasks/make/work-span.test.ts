import { expect, test } from "vitest";
import { actionsOf } from "../../../src/tasks/make/actions.js";
import { namedHead } from "../../../src/tasks/make/candidates.js";
import { editsOf } from "../../../src/tasks/make/edits.js";
import { commandsRun } from "../../../src/tasks/make/shell-calls.js";
import { workSpan } from "../../../src/tasks/make/work-span.js";
import { recorded } from "./support/recordings.js";
import { story } from "./support/repository.js";

const EDIT = "an edit";
const END = Number.POSITIVE_INFINITY;

async function ran(lines: readonly string[], output = "") {
  const acts = lines.map((line) => (line === EDIT ? { writes: "a.js", text: "a\n" } : { runs: line, output, code: 0 }));
  const actions = actionsOf(await recorded("codex", story([{ asks: "Mend it please" }, ...acts])));
  const commands = commandsRun(actions, { folder: "/work", stays: false });
  return { commands, span: workSpan(commands, editsOf(actions, commands)) };
}

test.each([
  ["nothing moves", ["ls", EDIT, "ls"], 0, END],
  ["another state before the first edit", ["ls", "git pull --rebase", EDIT], 2, END],
  ["the last of them", ["git fetch && git checkout main", "git -C /work merge x", EDIT, "ls"], 2, END],
  ["another state behind it", ["ls", EDIT, "git checkout main"], 0, 2],
  ["a new branch alone", ["git checkout -b feature", "git switch -c other", EDIT], 0, END],
  ["a new branch of another state", ["git checkout -b feature origin/main", EDIT], 1, END],
  ["files put back", ["git checkout -- a.js", "git stash list", "git reset a.js", EDIT], 0, END],
  ["edits that no call says", ["git pull", "sed -i s/a/b/ a.js", "git commit -am b", "git checkout main"], 1, 3],
] as const)("the work's actions: %s", async (_, lines, from, to) => {
  expect((await ran(lines)).span).toEqual({ from, to });
});

test.each([
  ["git log --oneline -5", "abc1234 Begin\ndef5678 Before\n", "abc1234"],
  ["git --no-pager log -1", "commit abc1234abc1234abc1234abc1234abc1234abc1\n", "abc1234abc1234abc1234abc1234abc1234abc1"],
  ["git rev-parse --short HEAD", "abc1234\n", "abc1234"],
  ["git log --oneline main..feature", "abc1234 Begin\n", null],
  ["git log --all --oneline", "abc1234 Begin\n", null],
  ["git log -3 -- src", "abc1234 Begin\n", null],
  ["git commit -m x && git log -1", "abc1234 x\n", null],
  ["cat log", "abc1234 Begin\n", null],
] as const)("what %j prints names where HEAD is: %j", async (line, output, commit) => {
  expect(namedHead((await ran([line], output)).commands)).toBe(commit);
});

import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { type MadeTask, makeTask } from "../../../src/tasks/make/make-task.js";
import { none } from "../../../src/tasks/sandbox/none.js";
import type { Sandbox } from "../../../src/tasks/sandbox.js";
import { readTasks } from "../../../src/tasks/task-file.js";
import { type Act, AGENTS, type Agent, recorded } from "./support/recordings.js";
import { ACTS, CHECK, ELSEWHERE, RIGHT, repository, story, TEST, WRONG } from "./support/repository.js";
import { SANDBOXES } from "./support/sandboxes.js";

interface Given {
  readonly repo: string;
  readonly acts?: readonly Act[];
  readonly agent?: Agent;
  readonly sandbox?: Sandbox;
  readonly folder?: string;
}

async function make({ repo, acts = ACTS, agent = "claude-code", sandbox = none, folder = ELSEWHERE }: Given) {
  const into = await mkdtemp(path.join(tmpdir(), "imprint-made-tasks-"));
  onTestFinished(() => rm(into, { recursive: true, force: true }));
  const session = await recorded(agent, story(acts, folder));
  const made: MadeTask = await makeTask({ session, repo, into, sandbox, note: () => undefined });
  return { made, into };
}

const whyOf = (made: MadeTask): string => ("why" in made ? made.why : `made ${made.loaded.task.name}`);
const taskOf = (made: MadeTask) => {
  if ("why" in made) throw new Error(made.why);
  return made.loaded.task;
};

/** The state that a session which did everything leaves, committed by its person. */
async function mended() {
  const repo = await repository();
  await repo.write("src/add.js", RIGHT);
  await repo.write("test/add.test.js", TEST);
  return { ...repo, end: repo.commit("Add", 1) };
}

describe.each(SANDBOXES)("in the sandbox $name", (sandbox) => {
  test.each(AGENTS)("a session of %s becomes a task that fails before and passes after", async (agent) => {
    const { folder, start } = await mended();
    const { made, into } = await make({ repo: folder, agent, sandbox });
    const task = taskOf(made);
    expect(task).toMatchObject({ name: "make-add-really-add-with-a-test", commit: start, check: CHECK });
    expect(task.prompt).toBe("Make add really add, with a test");
    expect(task.check_files).toEqual({ "test/add.test.js": TEST });
    expect(task.solution).toContain("a + b");
    expect(await readTasks(into)).toEqual([{ task, file: path.join(into, `${task.name}.yaml`) }]);
  });
});

test("edits are made again where nothing of them was committed", async () => {
  const { folder, start } = await repository();
  const { made } = await make({ repo: folder, agent: "codex" });
  expect(taskOf(made)).toMatchObject({ commit: start, check_files: { "test/add.test.js": TEST } });
  expect(made.evidence.join("\n")).toContain("The solution is the session's own 2 edits.");
});

test("what agents and recorders keep is no part of a solution", async () => {
  const repo = await repository();
  await repo.write("src/add.js", RIGHT);
  await repo.write("test/add.test.js", TEST);
  await repo.write(".specstory/history/today.md", "the whole session\n");
  repo.commit("Add", 1);
  expect(taskOf((await make({ repo: repo.folder })).made).solution).not.toContain("specstory");
});

test("a commit that was rebased since is found by when it was written", async () => {
  const repo = await repository();
  repo.git("checkout", "--quiet", "-b", "feature");
  await repo.write("src/add.js", RIGHT);
  await repo.write("test/add.test.js", TEST);
  repo.commit("Add", 1);
  repo.git("checkout", "--quiet", "main");
  repo.git("commit", "--quiet", "--allow-empty", "--amend", "--message", "Subtract, said better");
  const rewritten = repo.git("rev-parse", "HEAD");
  repo.git("rebase", "--quiet", "--onto", "main", "HEAD@{1}", "feature");
  repo.git("reflog", "expire", "--expire=now", "--all");
  repo.git("gc", "--quiet", "--prune=now");
  expect(taskOf((await make({ repo: repo.folder })).made).commit).toBe(rewritten);
});

test("a branch that is checked out since does not hide the one that the session was on", async () => {
  const repo = await mended();
  repo.git("checkout", "--quiet", "--orphan", "pages");
  repo.git("rm", "--quiet", "-rf", ".");
  await repo.write("index.html", "<p>\n");
  repo.commit("Pages", 2);
  const { made } = await make({ repo: repo.folder });
  expect(taskOf(made).commit).toBe(repo.start);
});

test("a reflog says what was checked out where the agent read nothing", async () => {
  const repo = await repository();
  await repo.write("src/add.js", "export const add = (a, b) => a * b;\n");
  const gone = repo.commit("Multiply", -2);
  repo.setClock(1);
  repo.git("reset", "--quiet", "--hard", repo.start);
  const [asked, , , writes, failed, , passed] = ACTS;
  const acts = [asked, writes, failed, { writes: "src/add.js", text: RIGHT }, passed].filter((act) => act !== undefined);
  const { made } = await make({ repo: repo.folder, acts });
  expect(taskOf(made).commit).toBe(gone);
  expect(made.evidence[0]).toContain("the reflog had it checked out when the work began");
});

test("git's own words in the recording name the commit", async () => {
  const repo = await repository();
  repo.git("reflog", "expire", "--expire=now", "--all");
  await repo.write("notes.md", "later\n");
  repo.commit("Note", -1);
  const [asked, ...rest] = ACTS;
  const log = { runs: "git log --oneline -3", output: `${repo.start.slice(0, 9)} Subtract\n`, code: 0 };
  const { made } = await make({ repo: repo.folder, acts: [asked, log, ...rest].filter((one) => one !== undefined) });
  expect(taskOf(made).commit).toBe(repo.start);
  expect(made.evidence[0]).toContain("git named it in the recording");
});

test("changes that were not committed when it began are said", async () => {
  const { folder } = await mended();
  const dirty: readonly Act[] = [
    ...ACTS.slice(0, 1),
    { reads: "package.json", text: '{ "type": "module", "private": true }\n' },
    ...ACTS.slice(1),
  ];
  const { made } = await make({ repo: folder, acts: dirty });
  expect(made.evidence).toContain(
    "Changes that were not committed when it began are not known: package.json was read otherwise.",
  );
  expect(taskOf(made).check).toBe(CHECK);
});

test("later requests stand in the prompt, words that only let the agent go on do not", async () => {
  const { folder } = await mended();
  const acts: readonly Act[] = [
    ...ACTS.slice(0, 4),
    { asks: "Go on." },
    { asks: "Negative numbers too" },
    ...ACTS.slice(4),
    { asks: "Now push" },
  ];
  const { made } = await make({ repo: folder, acts });
  expect(taskOf(made).prompt).toBe("Make add really add, with a test\n\nNegative numbers too");
});

test("a Python module of the repository's own is found where it lies", async () => {
  const repo = await repository();
  const check = "python3 -m unittest test_sums";
  await repo.write("src/sums/__init__.py", "def add(a, b): return a - b\n");
  await repo.write(
    "test_sums.py",
    "import unittest\nfrom sums import add\n\nclass T(unittest.TestCase):\n    def test(self): self.assertEqual(add(2, 3), 5)\n",
  );
  repo.commit("Python", -2);
  const acts: readonly Act[] = [
    { asks: "Mend the sums in Python" },
    { runs: `source .venv/bin/activate && ${check}`, output: "FAILED (failures=1)", code: 1 },
    { writes: "src/sums/__init__.py", text: "def add(a, b): return a + b\n" },
    { runs: check, output: "Ran 1 test in 0.001s\n\nOK", code: 0 },
  ];
  expect(taskOf((await make({ repo: repo.folder, acts })).made).check).toBe(`export PYTHONPATH="$PWD/src" && ${check}`);
});

test("a virtual environment of the repository comes first on the check's PATH", async () => {
  const repo = await mended();
  await repo.write(".gitignore", ".venv\n");
  await repo.write(".venv/bin/activate", "");
  expect(taskOf((await make({ repo: repo.folder })).made).check).toBe(`export PATH="$PWD/.venv/bin:$PATH" && ${CHECK}`);
});

describe("no task, and why", () => {
  const without = (code: number): readonly Act[] => ACTS.filter((act) => !("runs" in act && act.code === code));
  const instead = (command: string, output = "ok"): readonly Act[] => [
    ...ACTS.filter((act) => !("runs" in act)),
    { runs: command, output, code: 0 },
  ];

  test.each([
    ["nobody asks", ACTS.slice(1), "nobody asks for anything in the recording"],
    [
      "a command asks",
      [{ asks: "/mend src" }, ...ACTS.slice(1)],
      "nobody asks for anything in the recording but by /mend, whose text is the agent's own",
    ],
    ["it never tested", ACTS.filter((act) => !("runs" in act)), "the agent ran no test command"],
    ["its tests failed", without(0), "its tests failed at the end"],
    [
      "a program is not here",
      instead("no_such_dir/run_tests.sh"),
      "`no_such_dir/run_tests.sh` fails with what the session left: it needs a program that is not here",
    ],
    [
      "a module is not here",
      [
        ...ACTS.slice(0, 4),
        { writes: "test/b.test.js", text: 'import "nobodys-module-at-all";\n' },
        { runs: "node --test test/b.test.js", output: "# fail 0", code: 0 },
      ],
      "it needs a module that is not installed here (nobodys-module-at-all)",
    ],
    [
      "its check passes from the beginning",
      [
        ...ACTS.slice(0, 1),
        { reads: "src/add.js", text: WRONG },
        { writes: "README.md", text: "Sums.\n" },
        { runs: "node --test", output: "# fail 0", code: 0 },
      ],
      "`node --test`: the check passes before anything is done",
    ],
    [
      "nothing was changed",
      [...ACTS.slice(0, 2), { runs: "node --test", output: "# fail 0", code: 0 }],
      "it left no change that its edits or a commit hold",
    ],
    [
      "it was in another repository",
      [{ asks: "Change that file" }, { reads: "lib/other.rs", text: "fn main() {}\n" }, ...instead("cargo test").slice(-1)],
      "none of the files that it names was ever in the repository",
    ],
    [
      "the state is nowhere",
      [{ asks: "Change that file" }, { reads: "src/add.js", text: "export const add = null;\n" }, ACTS[3], ACTS[6]].filter(
        (act) => act !== undefined,
      ),
      "no commit from before the session holds any of the 1 files that the agent read as it read them",
    ],
  ] as const)("%s", async (_, acts, why) => {
    const { folder } = await repository();
    const { made, into } = await make({ repo: folder, acts });
    expect(whyOf(made)).toContain(why);
    expect(await readdir(into)).toEqual([]);
  });

  test("the session left something that does not pass", async () => {
    const { folder } = await repository();
    const acts = ACTS.map((act) => ("replaces" in act ? { ...act, text: "export const add = (a, b) => a / b;" } : act));
    expect(whyOf((await make({ repo: folder, acts })).made)).toBe(
      `\`${CHECK}\` fails with what the session left: it ends with 1`,
    );
  });

  test("it was interrupted", async () => {
    const { folder } = await mended();
    const stop = new AbortController();
    const session = await recorded("claude-code", story());
    const given = { session, repo: folder, into: path.join(folder, "tasks"), sandbox: none, signal: stop.signal };
    const made = await makeTask({ ...given, note: () => stop.abort() });
    expect(whyOf(made)).toBe("it was interrupted");
    expect(await readdir(folder)).not.toContain("tasks");
  });

  test("git keeps nothing there", async () => {
    const folder = await mkdtemp(path.join(tmpdir(), "imprint-no-git-"));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    expect(whyOf((await make({ repo: folder })).made)).toContain("holds no commit of git");
  });

  test("the repository begins after the session", async () => {
    const repo = await mended();
    const { folder } = repo;
    const session = await recorded("claude-code", { ...story(), at: Date.UTC(2020, 0, 1) });
    const made = await makeTask({ session, repo: folder, into: folder, sandbox: none, note: () => undefined });
    expect(whyOf(made)).toBe("the repository has no commit from before the session");
  });
});

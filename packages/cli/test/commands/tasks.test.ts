import { spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync } from "node:fs";
import { readdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import type { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { beforeAll, describe, expect, it, vi } from "vitest";
import { build, MAIN } from "../support/build.js";
import { imprint, start } from "../support/imprint.js";
import { BUBBLEWRAP, commit, emptyFolder, writeFiles } from "../tasks/support.js";

vi.setConfig({ testTimeout: 90_000 });
beforeAll(build, 120_000);

const PATCH =
  "diff --git a/calc.sh b/calc.sh\n--- a/calc.sh\n+++ b/calc.sh\n@@ -1 +1 @@\n-echo $(($1 - $2))\n+echo $(($1 + $2))\n";
const ADD = ["tasks", "add", "fix-add", "--repo", ".", "--prompt", "Make calc.sh add"];
const CHECK = ["--check", "sh test.sh", "--file", "test.sh"];

/** A repository with a program that is wrong, a test that is not committed, and a patch beside it. */
async function repository(): Promise<{ cwd: string; at: string }> {
  const cwd = path.join(await emptyFolder(), "calc");
  const at = await commit(cwd, { "calc.sh": "echo $(($1 - $2))\n" });
  await writeFiles(cwd, { "test.sh": 'test "$(sh calc.sh 1 2)" = 3\n', "../fix.patch": PATCH });
  return { cwd, at };
}

describe("imprint tasks", () => {
  it("writes a task with the newest commit, lists and shows it, checks it, and removes it", async () => {
    const { cwd, at } = await repository();
    const added = await imprint([...ADD, ...CHECK, "--solution", "../fix.patch", "--turns", "7"], { cwd });
    expect([added.code, added.stderr]).toEqual([0, ""]);
    expect(added.stdout).toMatch(/tasks\/fix-add\.yaml\nWhether it holds: .* tasks check fix-add\n$/);
    const task = JSON.parse((await imprint(["tasks", "show", "fix-add", "--json"], { cwd })).stdout);
    expect(task).toEqual({
      name: "fix-add",
      repository: "..",
      commit: at,
      prompt: "Make calc.sh add",
      check: "sh test.sh",
      check_files: { "test.sh": 'test "$(sh calc.sh 1 2)" = 3\n' },
      solution: PATCH,
      limits: { turns: 7, seconds: 600 },
    });
    const shown = await imprint(["tasks", "show", "fix-add"], { cwd });
    expect(shown.stdout).toBe(await readFile(path.join(cwd, "tasks/fix-add.yaml"), "utf8"));
    const listed = await imprint(["tasks", "--json"], { cwd });
    expect(JSON.parse(listed.stdout)).toEqual({ tasks: [task] });
    expect((await imprint(["tasks"], { cwd })).stdout).toMatch(/^TASK .*\nfix-add .*recorded +Make calc\.sh add\n$/);
    const checked = await imprint(["tasks", "check", "--no-sandbox"], { cwd });
    expect([checked.code, checked.stdout]).toEqual([0, "fix-add holds: fails before (exit code 1), passes with the solution\n"]);
    expect((await imprint(["tasks", "rm", "fix-add"], { cwd })).stdout).toBe("fix-add is removed.\n");
    expect(await readdir(path.join(cwd, "tasks"))).toEqual([]);
  });

  it("says of each task whether it holds, and ends with 1 where one does not; none keeps another from its turn", async () => {
    const { cwd } = await repository();
    const add = (name: string, ...others: string[]) =>
      imprint(["tasks", "add", name, "--repo", ".", "--prompt", "p", ...others], { cwd });
    await add("easy", "--check", "echo no work; true");
    await add("good", ...CHECK);
    await add("lost", "--check", "sh gone.sh; exit 127");
    await add("wrong", ...CHECK, "--solution", "test.sh");
    const { code, stdout } = await imprint(["tasks", "check", "--no-sandbox"], { cwd });
    expect(code).toBe(1);
    expect(stdout.split("\n").map((line) => line.replace(/(cannot run:|git apply:).*/, "$1"))).toEqual([
      "easy does not hold: the check passes before anything is done",
      "  no work",
      "good holds: fails before (exit code 1), no solution is recorded",
      "lost does not hold: the check cannot run:",
      expect.stringMatching(/^ {2}sh: .*gone\.sh/),
      "wrong does not hold: git apply:",
      "",
    ]);
    const one = await imprint(["tasks", "check", "good", "--no-sandbox", "--json"], { cwd });
    expect([one.code, JSON.parse(one.stdout)]).toEqual([
      0,
      { sandbox: "none", tasks: [{ name: "good", holds: true, wrong: null, said: "" }] },
    ]);
  });

  it("runs nothing without a sandbox that works, unless it is told to", async () => {
    const { cwd } = await repository();
    await imprint([...ADD, "--check", "touch ran"], { cwd });
    const { code, stdout, stderr } = await imprint(["tasks", "check"], { cwd, env: { PATH: cwd } });
    expect([code, stdout]).toEqual([2, ""]);
    expect(stderr).toMatch(
      /^error: neither bubblewrap nor podman nor docker .*\n *apt-get install bubblewrap .*, or --no-sandbox/,
    );
  });

  it.each([
    [["add", "Bad Name", "--repo", ".", "--prompt", "p", "--check", "c"], "<name> takes small letters, digits and dashes"],
    [["add", "a", "--repo", "nowhere", "--prompt", "p", "--check", "c"], "--repo nowhere: there is no such folder"],
    [["add", "a", "--repo", ".", "--prompt", "p"], "--check"],
    [["add", "a", "--repo", ".", "--prompt", "", "--check", "c"], "prompt must not"],
    [["add", "a", "--repo", ".", "--commit", "nope", "--prompt", "p", "--check", "c"], "there is no commit nope"],
    [["add", "a", "--repo", "..", "--commit", "1234", "--prompt", "p", "--check", "c"], "--commit is for git repositories"],
    [
      ["add", "a", "--repo", ".", "--prompt", "p", "--check", "c", "--file", "../x"],
      "--file ../x is no path below the repository",
    ],
    [
      ["add", "a", "--repo", ".", "--prompt", "p", "--check", "c", "--file", "gone"],
      "calc/gone cannot be read: there is no such file",
    ],
    [["add", "a", "--repo", ".", "--prompt", "p", "--check", "c", "--solution", "binary"], "--solution binary is no text"],
    [["add", "a", "--repo", ".", "--prompt", "p", "--check", "c", "--turns", "few"], "--turns takes a whole number"],
    [["add", "a", "--repo", ".", "--prompt", "p", "--check", "c", "--turns", "0"], "limits/turns must be >= 1"],
    [["add", "there", "--repo", ".", "--prompt", "p", "--check", "c"], "there.yaml is there"],
    [["show", "nobody"], "there is no task nobody in tasks"],
    [["rm", "../there"], "there is no task ../there in tasks"],
    [["check", "there", "nobody"], "there is no task nobody in tasks"],
    [["list", "--in", "elsewhere"], "there is no folder elsewhere"],
  ])("refuses with a sentence, and writes nothing: tasks %j", async (args, sentence) => {
    const { cwd } = await repository();
    await writeFiles(cwd, { "tasks/there.yaml": "name: there\nrepository: ..\nprompt: p\ncheck: c\n" });
    await writeFile(path.join(cwd, "binary"), Buffer.from([0xff, 0xfe, 0]));
    const { code, stdout, stderr } = await imprint(["tasks", ...args], { cwd });
    expect([code, stdout], stderr).toEqual([2, ""]);
    expect(stderr).toContain(sentence);
    expect(stderr).not.toMatch(/\n\s+at |Unexpected/);
    expect(await readdir(path.join(cwd, "tasks"))).toEqual(["there.yaml"]);
  });

  it("ends on Ctrl-C with what was checked, and leaves nothing in the temporary folder", async () => {
    const { cwd } = await repository();
    const TMPDIR = await emptyFolder();
    await imprint([...ADD, "--check", `touch ${TMPDIR}/begun; while :; do sleep 1; done`], { cwd });
    const { child, ended } = start(["tasks", "check", "--no-sandbox"], { TMPDIR }, cwd);
    await vi.waitFor(async () => expect(await readdir(TMPDIR)).toContain("begun"), { timeout: 30_000 });
    child.kill("SIGINT");
    expect(await ended).toMatchObject({
      code: 1,
      stdout: "fix-add does not hold: the check was stopped before its end: aborted\n",
    });
    expect(await readdir(TMPDIR)).toEqual(["begun"]);
  });
});

/** Node itself closes those up to 15. */
const HIGH = 60;

describe.each(BUBBLEWRAP)("imprint tasks check in $name", () => {
  it("says so, and hands no open file of whoever started it to the check", async () => {
    const { cwd } = await repository();
    await imprint([...ADD, "--check", `readlink /proc/self/fd/${HIGH}`], { cwd });
    const said = async (...flags: string[]): Promise<{ sandbox: string; tasks: { said: string }[] }> => {
      const file = openSync(path.join(cwd, "calc.sh"), "r");
      const stdio = [...Array(HIGH).fill("ignore"), file];
      stdio[1] = "pipe";
      const child = spawn(process.execPath, [MAIN, "tasks", "check", "--json", ...flags], { cwd, stdio });
      closeSync(file);
      const [out] = await Promise.all([text(child.stdout as Readable), once(child, "exit")]);
      return JSON.parse(out);
    };
    expect(await said("--no-sandbox")).toMatchObject({ sandbox: "none", tasks: [{ said: path.join(cwd, "calc.sh") }] });
    expect(await said()).toMatchObject({ sandbox: "bubblewrap", tasks: [{ said: "/dev/null" }] });
  });
});

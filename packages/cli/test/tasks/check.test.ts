import { execFile } from "node:child_process";
import { mkdir, readdir, readFile, symlink, writeFile } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";
import fc from "fast-check";
import { describe, expect, it, vi } from "vitest";
import { UsageError } from "../../src/errors.js";
import { checkResult, layOver, verifyTask, wrongWith } from "../../src/tasks/check.js";
import { inTemporary } from "../../src/tasks/folders.js";
import { none } from "../../src/tasks/sandbox/none.js";
import { BUBBLEWRAP, commit, emptyFolder, taskOn, writeFiles } from "./support.js";

vi.setConfig({ testTimeout: 60_000 });

/** A result whose `link` leads to a folder outside, `file` to a file there, `nowhere` nowhere, and `up` above. */
async function hostile(root: string): Promise<{ result: string; outside: string }> {
  const [result, outside] = [path.join(root, "result"), path.join(root, "outside")];
  await writeFiles(result, { "a/b": "theirs", "check.sh/in-the-way": "" });
  await writeFiles(outside, { "secret.txt": "secret" });
  const links = {
    link: "../outside",
    file: "../outside/secret.txt",
    nowhere: "../outside/new",
    up: "..",
    "a/link": "../../outside",
  };
  for (const [name, target] of Object.entries(links)) await symlink(target, path.join(result, name));
  return { result, outside };
}

const filesOf = async (folder: string): Promise<Record<string, string>> =>
  Object.fromEntries(
    await Promise.all((await readdir(folder)).map(async (name) => [name, await readFile(path.join(folder, name), "utf8")])),
  );

describe("the files of a check", () => {
  it("are written where links and folders were, and through none of them", async () => {
    const { result, outside } = await hostile(await emptyFolder());
    const names = ["link/check.sh", "file", "nowhere", "a/link/deep/x", "check.sh", "a/b/c", "new/x"];
    await layOver(Object.fromEntries(names.map((name) => [name, `ours: ${name}`])), result);
    for (const name of names) expect(await readFile(path.join(result, name), "utf8")).toBe(`ours: ${name}`);
    expect(await filesOf(outside)).toEqual({ "secret.txt": "secret" });
    // What a plain write does: the test would see it.
    const other = await hostile(await emptyFolder());
    await writeFile(path.join(other.result, "link/check.sh"), "through");
    expect(await filesOf(other.outside)).toHaveProperty("check.sh");
  });

  it("leave the result by no path, whatever it is and whatever the result holds", async () => {
    const part = fc.oneof(
      fc.constantFrom("..", ".", "", "a", "b", "link", "up", "file", "nowhere", "check.sh", "outside", "\0"),
      fc.string({ maxLength: 5 }),
    );
    const name = fc.array(part, { minLength: 1, maxLength: 4 }).map((parts) => parts.join("/"));
    await fc.assert(
      fc.asyncProperty(fc.array(name, { maxLength: 3 }), (names) =>
        inTemporary(async (root) => {
          const { result, outside } = await hostile(root);
          const written = await layOver(Object.fromEntries(names.map((one) => [one, "ours"])), result).then(
            () => true,
            (error: unknown) => {
              expect(error).toBeInstanceOf(UsageError);
              return false;
            },
          );
          expect(await filesOf(outside)).toEqual({ "secret.txt": "secret" });
          expect((await readdir(root)).sort()).toEqual(["outside", "result"]);
          const last = names.at(-1);
          if (written && last !== undefined) expect(await readFile(path.join(result, last), "utf8")).toBe("ours");
        }),
      ),
      { numRuns: 60 },
    );
  });
});

describe("a check", () => {
  it("runs on a copy of the result, with the task's own files over what the agent made of them", async () => {
    const folder = await emptyFolder();
    await writeFiles(folder, { answer: "yes\n", "check.sh": "exit 0\n" });
    const task = taskOn(folder, { check: "touch made; sh check.sh", check_files: { "check.sh": "grep -q no answer\n" } });
    expect(await checkResult(task, folder, none)).toMatchObject({ solved: false, end: { code: 1, stopped: null } });
    await writeFiles(folder, { answer: "no\n" });
    expect(await checkResult(task, folder, none)).toMatchObject({ solved: true, end: { code: 0 } });
    expect((await readdir(folder)).sort()).toEqual(["answer", "check.sh"]);
  });

  it("finds links of the result as links: nothing that they lead to is copied", async () => {
    const { result } = await hostile(await emptyFolder());
    const check = 'test -L link && test -L file && test "$(readlink file)" = ../outside/secret.txt';
    expect(await checkResult(taskOn(result, { check }), result, none)).toMatchObject({ solved: true });
    expect(await checkResult(taskOn(result, { check: "cat file link/secret.txt" }), result, none)).toMatchObject({
      solved: false,
    });
  });

  it("passes over what is no file: a copy of a pipe would wait for ever", async () => {
    const folder = await emptyFolder();
    await mkdir(path.join(folder, "deep"));
    const make = await none.run({
      command: ["mkfifo", "deep/pipe"],
      workspace: folder,
      port: null,
      limits: { seconds: 9, memoryMb: 99, processes: 9, fileMb: 9 },
    });
    expect(make.code).toBe(0);
    expect(await checkResult(taskOn(folder, { check: "test -d deep && test ! -e deep/pipe" }), folder, none)).toMatchObject({
      solved: true,
    });
  });

  it("solves nothing where the result cannot be copied, and what was copied of it is removed", async () => {
    const folder = await emptyFolder();
    const deep = `i=0; while [ $i -lt 30 ]; do i=$((i+1)); mkdir ${"d".repeat(200)}; cd ${"d".repeat(200)}; done`;
    const limits = { seconds: 9, memoryMb: 99, processes: 9, fileMb: 9 };
    await none.run({ command: ["sh", "-c", deep], workspace: folder, port: null, limits });
    expect(await checkResult(taskOn(folder), folder, none)).toMatchObject({
      solved: false,
      end: { code: null, stopped: "disk", stderr: expect.stringContaining("the result cannot be copied: ENAMETOOLONG") },
    });
    await promisify(execFile)("rm", ["-rf", folder]); // Node cannot
  });

  it("ends with the signal, and solves nothing", async () => {
    const folder = await emptyFolder();
    const end = await checkResult(taskOn(folder, { check: "sleep 1000" }), folder, none, AbortSignal.abort());
    expect(end).toMatchObject({ solved: false, end: { code: null, stopped: "aborted" } });
  });
});

const PATCH = "diff --git a/answer b/answer\n--- a/answer\n+++ b/answer\n@@ -1 +1 @@\n-no\n+yes\n";

describe.each([none, ...BUBBLEWRAP])("with the sandbox $name, a task is verified", (sandbox) => {
  it("by programs that are installed in its repository", async () => {
    const folder = await emptyFolder();
    await commit(folder, { answer: "no\n", ".gitignore": ".venv/\n" });
    await writeFiles(folder, { ".venv/bin/tool": "grep -q yes answer\n" });
    const { before, after } = await verifyTask(taskOn(folder, { check: "sh .venv/bin/tool", solution: PATCH }), sandbox);
    expect([before.end.code, after?.end.code]).toEqual([1, 0]);
  });

  it.each([
    ["holds", { check: "grep -q yes answer", solution: PATCH }, null],
    ["holds without a solution", { check: "grep -q yes answer" }, null],
    ["passes at once", { check: "true", solution: PATCH }, "the check passes before anything is done"],
    ["fails with the solution", { check: "exit 3", solution: PATCH }, "the check fails with the solution, exit code 3"],
    [
      "cannot run",
      { check: "no-such-program", solution: PATCH },
      expect.stringMatching(/^the check cannot run: sh: .*no-such-program/),
    ],
  ])("%s", async (_, task, wrong) => {
    const folder = await emptyFolder();
    await commit(folder, { answer: "no\n" });
    expect(wrongWith(await verifyTask(taskOn(folder, task), sandbox))).toEqual(wrong);
  });

  it.each([
    ["does not fit", PATCH.replace("-no", "-maybe")],
    ["writes above the workspace", PATCH.replaceAll("/answer", "/../answer")],
    ["is no patch", "yes\n"],
  ])("is refused where the solution %s, in git's words", async (_, solution) => {
    const folder = await emptyFolder();
    await commit(folder, { answer: "no\n" });
    await expect(verifyTask(taskOn(folder, { check: "false", solution }), sandbox)).rejects.toThrow("git apply: error: ");
  });
});

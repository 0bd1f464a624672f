import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, it, onTestFinished } from "vitest";
import type { Heard } from "../../../src/tasks/run/gate.js";
import { changedIn, filesOf, filesOfPatch, outcomeOf } from "../../../src/tasks/run/outcome.js";
import type { SandboxEnd } from "../../../src/tasks/sandbox.js";

const PATCH = "--- a/shop/price.py\n+++ b/shop/price.py\n@@ -1 +1 @@\n-a\n+b\n--- /dev/null\n+++ b/shop/new.py\n";

interface Seen {
  readonly solved?: boolean;
  readonly end?: Partial<SandboxEnd>;
  readonly heard?: Partial<Heard>;
  readonly full?: number;
  readonly changed?: readonly string[];
  readonly calls?: number;
}

const outcome = ({ solved = false, end, heard, full, changed = ["shop/price.py"], calls = 2 }: Seen) =>
  outcomeOf({
    ...{ solved, full: full ?? null, seconds: 60, changed, calls, solution: PATCH },
    end: { code: 0, stopped: null, stdout: "", stderr: "", ...end },
    heard: { turns: 3, prompt_tokens: 1, completion_tokens: 1, refused: null, ...heard },
  });

const TOO_LONG = { code: "CONTEXT_LENGTH_EXCEEDED", message: "too long" };

it.each<[string, Seen, string, string | null]>([
  ["a check that passes", { solved: true }, "solved", null],
  ["a check that passes though a limit ended the agent", { solved: true, full: 5 }, "solved", null],
  ["a check that fails", {}, "check_failed", null],
  ["a check that fails where nothing was changed, but called", { changed: [] }, "check_failed", null],
  ["other files than the solution's", { changed: ["notes.txt"] }, "wrong_file", "notes.txt"],
  ["no call and no change", { changed: [], calls: 0 }, "no_call", null],
  ["no call to the end of its turns", { changed: [], calls: 0, full: 5 }, "no_call", "after 5 turns"],
  ["the end of its turns", { full: 5 }, "limit", "after 5 turns"],
  ["the end of its time", { end: { code: null, stopped: "seconds" } }, "limit", "after 60 seconds"],
  [
    "the end of its time before the first answer",
    { end: { stopped: "seconds" }, heard: { turns: 0 } },
    "limit",
    "after 60 seconds",
  ],
  ["too much memory", { end: { code: null, stopped: "memory" } }, "limit", "too much: memory"],
  [
    "a conversation beyond the context",
    { heard: { refused: TOO_LONG } },
    "limit",
    "the conversation is longer than the model's context",
  ],
  [
    "an agent that does not start",
    { end: { code: 127, stderr: "a\nno such file\n" }, heard: { turns: 0 } },
    "error",
    "no such file",
  ],
  ["an agent that asks nothing", { heard: { turns: 0 } }, "error", "it never asked the model"],
  ["an agent that dies midway", { end: { code: 1, stdout: "boom" } }, "error", "boom"],
  ["an answer that is refused", { heard: { refused: { code: "x", message: "no such model" } } }, "error", "no such model"],
])("%s: %#", (_, seen, kind, detail) => {
  expect(outcome(seen)).toEqual({ outcome: kind, detail });
});

it("reads the files of a patch", () => {
  expect(new Set(filesOfPatch(PATCH))).toEqual(new Set(["shop/price.py", "shop/new.py"]));
});

it("finds the files that were changed, made and removed, leaves git's own out, and follows no link", async () => {
  const folder = await mkdtemp(path.join(tmpdir(), "imprint-outcome-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  await mkdir(path.join(folder, "shop"));
  await mkdir(path.join(folder, ".git"));
  for (const name of ["shop/same", "shop/changed", "gone", ".git/index"]) await writeFile(path.join(folder, name), "before");
  await symlink("/", path.join(folder, "root"));
  const before = await filesOf(folder);
  await writeFile(path.join(folder, "shop", "changed"), "after");
  await writeFile(path.join(folder, "shop", "made"), "");
  await writeFile(path.join(folder, ".git", "index"), "after");
  await rm(path.join(folder, "gone"));
  expect(changedIn(before, await filesOf(folder))).toEqual(["gone", "shop/changed", "shop/made"]);
  expect(before.has("root")).toBe(true);
});

import { expect, test } from "vitest";
import { readPatch } from "../../../src/tasks/make/apply-patch.js";
import { holds, seenFiles } from "../../../src/tasks/make/seen.js";

test("a patch of Codex is edits of files", () => {
  const text = `*** Begin Patch
*** Add File: a.py
+one
+
+two
*** Update File: b.py
*** Move to: c.py
@@ def f
 keep
-old
+new
@@
-gone
*** Delete File: d.py
*** End Patch`;
  expect(readPatch(text)).toEqual([
    { kind: "write", path: "a.py", text: "one\n\ntwo\n" },
    { kind: "replace", path: "b.py", old: "keep\nold", text: "keep\nnew", all: false },
    { kind: "replace", path: "b.py", old: "gone", text: "", all: false },
    { kind: "move", path: "b.py", to: "c.py" },
    { kind: "remove", path: "d.py" },
  ]);
});

test.each([
  ["at its line", "a\nb\nc\n", { lines: ["b", "c"], from: 2 }, true],
  ["at another line", "x\na\nb\nc\n", { lines: ["b", "c"], from: 2 }, false],
  ["anywhere", "x\na\r\nb\r\nc\n", { lines: ["b", "c"], from: null }, true],
  ["with what was redacted", "key = 1234\nb\n", { lines: ["key = [REDACTED]", "b"], from: 1 }, true],
  ["not", "a\nc\n", { lines: ["a", "b"], from: null }, false],
])("a file holds lines that were seen: %s", (_, text, seen, held) => {
  expect(holds(text, seen)).toBe(held);
});

test.each([
  ["numbers its lines", "     1→a\n     2→b\n", { lines: ["a", "b"], from: 1 }],
  ["prints them alone, and what it left out", "abc\nb\n\n[12 more lines]", { lines: ["abc", "b"], from: null }],
])("a reader that %s shows a file", (_, output, seen) => {
  const action = { name: "read", input: { path: "/work/a.js" }, command: null, folder: null, exit: null, failed: false, step: 1 };
  expect(seenFiles([{ ...action, output }], { ran: [], edits: [] })).toEqual([{ path: "/work/a.js", at: 0, ...seen }]);
});

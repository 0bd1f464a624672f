import fc from "fast-check";
import { expect, test } from "vitest";
import { readCall, runsOf } from "../../src/sessions/changes.js";

const PATCH = "*** Begin Patch\n*** Update File: a.py\n@@\n-one\n-two\n+three\n same\n*** End Patch";

test("a patch is told by what it takes out and puts in; other text is one run", () => {
  expect(runsOf(PATCH).map(({ kind }) => kind)).toEqual(["same", "removed", "added", "same"]);
  expect(runsOf("--- a\n+++ b\n@@ -1 +1 @@\n-x\n+y").map(({ kind }) => kind)).toEqual(["same", "removed", "added"]);
  expect(runsOf("- a list\n- of things")).toEqual([{ kind: "same", text: "- a list\n- of things" }]);
});

test("no character of a text is lost or made up", () => {
  const line = fc.oneof(fc.constantFrom("@@ -1 +1 @@", "+a", "-b", "--- c", "+++ d", ""), fc.string());
  fc.assert(
    fc.property(fc.array(line), (lines) => {
      const text = lines.join("\n");
      expect(
        runsOf(text)
          .map((run) => run.text)
          .join("\n"),
      ).toBe(text);
    }),
  );
});

test("a call is a line of what it is about, and an edit what it changes", () => {
  expect(readCall(JSON.stringify({ file_path: "a.py", old_string: "x\ny", new_string: "z" }))).toEqual({
    about: "a.py",
    runs: [
      { kind: "removed", text: "-x\n-y" },
      { kind: "added", text: "+z" },
    ],
  });
  expect(readCall('{"command":"ls -la\\nwc"}')).toEqual({ about: "ls -la", runs: [{ kind: "same", text: "ls -la\nwc" }] });
  expect(readCall(PATCH)).toMatchObject({ about: "a.py", runs: expect.arrayContaining([{ kind: "added", text: "+three" }]) });
  expect(readCall('{"command":["bash","-lc","npm test"]}').about).toBe("npm test");
  expect(readCall('{"command":["git","log"]}').about).toBe("git log");
  expect(readCall('{"limit":5}')).toEqual({ about: "", runs: [{ kind: "same", text: '{\n  "limit": 5\n}' }] });
  expect(readCall("[1]")).toEqual({ about: "[1]", runs: [{ kind: "same", text: "[1]" }] });
});

test("whatever the arguments are, they are shown", () => {
  fc.assert(fc.property(fc.oneof(fc.string(), fc.json()), (given) => void expect(readCall(given).runs).toBeInstanceOf(Array)));
});

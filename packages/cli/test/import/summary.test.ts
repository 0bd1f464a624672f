import { describe, expect, it } from "vitest";
import type { ImportedFile, ImportedSession } from "../../src/import/import-files.js";
import { importSummary } from "../../src/import/summary.js";
import { createPaint } from "../../src/output/paint.js";

const session = (session_id: string, assistant_turns: number, more: Partial<ImportedSession> = {}): ImportedSession => ({
  session_id,
  format: "claude-code",
  outcome: "unknown",
  redactions: [],
  task: "Start the table at midnight.",
  user_turns: 1,
  assistant_turns,
  tool_calls: 0,
  tool_results: 0,
  ...more,
});
const file = (path: string, status: ImportedFile["status"], ...sessions: readonly ImportedSession[]): ImportedFile => ({
  path,
  status,
  sessions,
  warnings: [],
});
const linesOf = (...files: readonly ImportedFile[]): readonly string[] =>
  importSummary(files, { paint: createPaint({}, {}), verbose: false, name: "imprint" }).split("\n");

describe("the sum of an import", () => {
  it.each([
    ["1 session stored, replaced once.", [file("a", "stored", session("s", 2)), file("b", "stored", session("s", 3))]],
    ["1 session stored.", [file("a", "stored", session("s", 3)), file("b", "known", session("s", 3))]],
    [
      "2 sessions stored, replaced twice, 1 session stored before.",
      [
        ...[1, 2, 3].map((turns) => file(`a${turns}`, "stored", session("s", turns))),
        file("b", "stored", session("t", 1)),
        file("c", "known", session("u", 1), session("t", 1)),
      ],
    ],
    ["1 session would be stored.", [file("a", "readable", session("s", 2)), file("b", "readable", session("s", 3))]],
    [
      "2 sessions would be stored.",
      [file("a", "readable", session("s", 2)), file("b", "readable", session("s", 2, { task: "Another." }))],
    ],
  ])("counts a session that grows as the store does: %s", (sum, files) => {
    expect(linesOf(...files)).toContain(sum);
  });

  it("shows such a session once, as it is stored in the end", () => {
    const dry = linesOf(file("a", "readable", session("s", 3)), file("b", "readable", session("s", 2)));
    expect(dry.filter((line) => line.startsWith("s "))).toEqual([expect.stringMatching(/^s +claude-code +unknown +3 /)]);
    const rows = linesOf(
      file("a", "stored", session("s", 2)),
      file("b", "stored", session("s", 3)),
      file("c", "known", session("s", 9)),
    );
    expect(rows.filter((line) => line.startsWith("s "))).toEqual([
      expect.stringMatching(/^s +claude-code +unknown +3 .* stored /),
    ]);
  });
});

import { expect, it } from "vitest";
import { answersOf, countsOf, droppedOf, importText, jsonLines } from "../support/import-text.js";

const event = (type: string, more: object): object => ({ type, timestamp: "2026-01-05T10:00:00.000Z", ...more });
const init = event("init", { session_id: "s-1", model: "gemini-3-pro" });
const asked = event("message", { role: "user", content: "Start the table at midnight." });
const piece = (content: string): object => event("message", { role: "assistant", content, delta: true });
const use = (tool_id: string, parameters: object = {}): object =>
  event("tool_use", { tool_name: "read_file", tool_id, parameters });
const result = (tool_id: string, more: object = { output: tool_id }): object =>
  event("tool_result", { tool_id, status: "success", ...more });
const read = (...events: readonly object[]): ReturnType<typeof importText> => importText(jsonLines(init, asked, ...events));

it("joins the pieces of an answer, and begins another when results came back", async () => {
  const imported = await read(
    piece("I "),
    piece("look."),
    use("c1", { path: "a.py" }),
    use("c2"),
    result("c1"),
    result("c2"),
    piece("START "),
    piece("has to be 0."),
    event("result", { status: "success", stats: {} }),
  );
  expect(countsOf(imported)).toEqual([1, 2, 2, 2]);
  expect(answersOf(imported)).toEqual(["I look.", "START has to be 0."]);
  expect(imported.sessions).toMatchObject([
    { session_id: "s-1", outcome_signal: "success", source: { model: "gemini-3-pro", agent: "gemini-cli" } },
  ]);
});

it("says which results were not recorded, keeps errors, and counts the tool's own notes", async () => {
  const imported = await read(
    use("c1"),
    result("c1", {}),
    use("c2"),
    result("c2", { status: "error", error: { type: "x", message: "no such file" } }),
    event("error", { severity: "warning", message: "loop" }),
    piece("Gone."),
  );
  expect(imported.sessions[0]?.steps.flatMap(({ observations = [] }) => observations)).toEqual([
    { call_id: "c1", content: "[result not recorded]" },
    { call_id: "c2", content: "no such file", is_error: true },
  ]);
  expect(droppedOf(imported)).toEqual({ "tool result not recorded": 1, "environment note": 1 });
});

it("passes over what the tool prints before its events", async () => {
  const imported = await importText(`YOLO mode is enabled.\nLoaded cached credentials.\n${jsonLines(init, asked, piece("0."))}`);
  expect(imported.bad_lines).toBe(2);
  expect(countsOf(imported)).toEqual([1, 1, 0, 0]);
});

import { expect, it } from "vitest";
import { answersOf, countsOf, droppedOf, importText, jsonLines, usersOf } from "../support/import-text.js";

const composerId = "9f3a0000-0000-4000-8000-000000000001";
const bubble = (bubbleId: string, type: number, text: string, more: object = {}): Record<string, unknown> => ({
  bubbleId,
  type,
  text,
  ...more,
});
const tool = (bubbleId: string, data: object, text = ""): Record<string, unknown> =>
  bubble(bubbleId, 2, text, {
    capabilityType: 15,
    toolFormerData: { name: "read_file_v2", toolCallId: bubbleId, status: "completed", ...data },
  });
const thought = (bubbleId: string, text: string): Record<string, unknown> => bubble(bubbleId, 2, "", { thinking: { text } });
const ask = bubble("u1", 1, "Start the table at midnight.");

const read = (...bubbles: readonly Record<string, unknown>[]): ReturnType<typeof importText> =>
  importText(
    jsonLines(
      { composerId, _v: 10, status: "completed", fullConversationHeadersOnly: bubbles.map(({ bubbleId }) => ({ bubbleId })) },
      ...bubbles,
    ),
  );

it("joins a thought, a text and a call into an answer, until something came back", async () => {
  const imported = await read(
    ask,
    thought("t1", "Where is it?"),
    bubble("a1", 2, "I look."),
    tool("c1", { rawArgs: '{"path":"table.py"}', result: '{"contents":"START = 6"}' }),
    tool("c2", { name: "run_terminal_cmd", params: '{"command":"make"}', result: '{"output":"ok","exitCodeV2":0}' }),
    thought("t2", "So."),
    bubble("a2", 2, "START has to be 0.", { modelInfo: { modelName: "m-1" } }),
  );
  expect(countsOf(imported)).toEqual([1, 3, 2, 2]);
  expect(imported.sessions[0]).toMatchObject({
    session_id: composerId,
    outcome_signal: "completed",
    source: { format: "cursor", format_version: "10", model: "m-1" },
    steps: [
      {},
      {
        text: "I look.",
        reasoning: "Where is it?",
        tool_calls: [{ id: "c1", name: "read_file_v2", arguments: '{"path":"table.py"}' }],
        observations: [{ content: "START = 6" }],
      },
      { tool_calls: [{ name: "run_terminal_cmd", arguments: '{"command":"make"}' }], observations: [{ content: "ok" }] },
      { text: "START has to be 0.", reasoning: "So." },
    ],
  });
});

it("says what is not recorded: results, and calls without their arguments", async () => {
  const imported = await read(
    ask,
    tool("c1", { rawArgs: "{}", result: "" }),
    tool("c2", { rawArgs: '{"a":1}', status: "error", error: '{"modelVisibleErrorMessage":"no such file"}' }),
    tool("c3", { name: "edit_file" }),
    tool("c4", { rawArgs: '{"a":2}', status: "cancelled" }),
    bubble("a1", 2, "Done."),
  );
  expect(imported.sessions[0]?.steps.flatMap(({ observations = [] }) => observations)).toEqual([
    { call_id: "c1", content: "[result not recorded]" },
    { call_id: "c2", content: "no such file", is_error: true },
    { call_id: null, content: "[edit_file]" },
    { call_id: "c4", content: "[result not recorded]", is_error: true },
  ]);
  expect(droppedOf(imported)).toEqual({ "tool result not recorded": 2, "call not recorded in full": 1 });
});

it("follows the headers: what they do not name was undone, what they name may be gone", async () => {
  const imported = await importText(
    jsonLines(
      {
        composerId,
        latestConversationSummary: { summary: {} },
        fullConversationHeadersOnly: ["u2", "gone", "a2", "a3"].map((bubbleId) => ({ bubbleId })),
      },
      bubble("a2", 2, "Right."),
      ask,
      bubble("u2", 1, "Again.", { images: [{}] }),
      bubble("a3", 2, ""),
    ),
  );
  expect(usersOf(imported)).toEqual(["Again.\n\n[image]"]);
  expect(answersOf(imported)).toEqual(["Right."]);
  expect(droppedOf(imported)).toEqual({
    "missing message": 1,
    "abandoned branch": 1,
    "empty answer": 1,
    "compaction summary": 1,
  });
});

it("reads conversations that hold their bubbles, one or a list of them", async () => {
  const chat = (id: string): object => ({ composerId: id, conversation: [ask, bubble("a1", 2, id)] });
  expect(answersOf(await importText(JSON.stringify(chat("one"), null, 2)))).toEqual(["one"]);
  expect(answersOf(await importText(JSON.stringify([chat("one"), chat("two")])))).toEqual(["one", "two"]);
});

it("goes by the times of bubbles where no headers name them", async () => {
  const at = (second: number): object => ({ createdAt: `2026-01-05T10:00:0${second}.000Z` });
  const bubbles = [bubble("a", 2, "Second.", at(2)), bubble("b", 1, "First.", at(1)), bubble("c", 2, "Third.", at(3))];
  const imported = await importText(jsonLines({ composerId, conversationMap: {} }, ...bubbles));
  expect(imported.sessions[0]?.steps.map(({ text }) => text)).toEqual(["First.", "Second.", "Third."]);
});

it("puts the code that a person attached behind their words", async () => {
  const attachedCodeChunks = [
    { relativeWorkspacePath: "src/app.py", startLineNumber: 10, lines: ["def main():", "    pass"] },
    { relativeWorkspacePath: "src/other.py", startLineNumber: 1, lines: [] },
  ];
  const imported = await read(bubble("u1", 1, "What is this?", { attachedCodeChunks }), bubble("a1", 2, "A function."));
  expect(usersOf(imported)).toEqual(["What is this?\n\nsrc/app.py\ndef main():\n    pass"]);
});

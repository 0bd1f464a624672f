import { expect, it } from "vitest";
import { answersOf, countsOf, droppedOf, importText, usersOf } from "../support/import-text.js";

const item = (message: object, more: object = {}): object => ({ message, contextItems: [], ...more });
const user = (content: unknown, more: object = {}): object => item({ role: "user", content }, more);
const call = (id: string): object => ({ id, type: "function", function: { name: "Read", arguments: '{"filepath":"a.ts"}' } });
const state = (id: string, status: string, ...outputs: string[]): object => ({
  toolCallId: id,
  toolCall: call(id),
  status,
  output: outputs.map((content) => ({ name: "Tool Result", content })),
});
const read = (...history: readonly object[]): ReturnType<typeof importText> =>
  importText(JSON.stringify({ sessionId: "s-1", title: "t", workspaceDirectory: "/work", history, usage: {} }));

it("gives each call its result, marks failures, and leaves a refused call without one", async () => {
  const calls = [call("c1"), call("c2"), call("c3")];
  const toolCallStates = [
    state("c1", "done", "const a = 1;\n", "b"),
    state("c2", "errored", "no such file"),
    state("c3", "canceled"),
  ];
  const imported = await read(
    user("Look."),
    item({ role: "assistant", content: "", toolCalls: calls }, { toolCallStates }),
    item({ role: "assistant", content: "So.", usage: { model: "m-1" } }),
  );
  expect(countsOf(imported)).toEqual([1, 2, 3, 2]);
  expect(imported.sessions[0]?.steps[1]?.observations).toEqual([
    { call_id: "c1", content: "const a = 1;\nb" },
    { call_id: "c2", content: "no such file", is_error: true },
  ]);
  expect(imported.sessions[0]).toMatchObject({
    session_id: "s-1",
    source: { format: "continue", agent: "continue", model: "m-1" },
  });
});

it("keeps what a person named before their words, and text in parts", async () => {
  const contextItems = [{ name: "a.ts", description: "a.ts", content: "```ts a.ts\nconst a = 1;\n```" }];
  const imported = await read(
    user([{ type: "text", text: "Look." }], { contextItems }),
    item({ role: "assistant", content: "So." }),
  );
  expect(usersOf(imported)).toEqual(["```ts a.ts\nconst a = 1;\n```\n\nLook."]);
});

it("reads the editor's sessions: reasoning, one call, results of their own, system words", async () => {
  const imported = await read(
    item({ role: "system", content: "Be brief." }),
    user("Look."),
    item({ role: "thinking", content: "Hm." }),
    item({ role: "assistant", content: "I look." }, { toolCallState: state("c1", "done", "a") }),
    item({ role: "assistant", content: "", toolCalls: [call("c2")] }),
    item({ role: "tool", content: "b", toolCallId: "c2" }),
    item({ role: "assistant", content: "So." }),
  );
  expect(countsOf(imported)).toEqual([1, 3, 2, 2]);
  expect(imported.sessions[0]?.steps[0]).toMatchObject({ source: "system", text: "Be brief." });
  expect(imported.sessions[0]?.steps[2]).toMatchObject({ reasoning: "Hm.", text: "I look.", tool_calls: [{ id: "c1" }] });
  expect(answersOf(imported)).toEqual(["I look.", "", "So."]);
});

it("counts summaries of what was compacted, and items of no known role", async () => {
  const imported = await read(
    user("Look."),
    item({ role: "assistant", content: "So." }, { conversationSummary: "They looked." }),
    item({ role: "narrator", content: "Later." }),
  );
  expect(droppedOf(imported)).toEqual({ "compaction summary": 1 });
  expect(imported.sessions[0]?.bad_lines).toBe(1);
});

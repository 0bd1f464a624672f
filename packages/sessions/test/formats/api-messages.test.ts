import { describe, expect, it } from "vitest";
import { droppedOf, importText } from "../support/import-text.js";

const input = { path: "a.ts" };
const ask = { role: "user", content: "Fix the port" };
const text = (words: string): object => ({ type: "text", text: words });

/** One conversation as the APIs and frameworks write it: a thought, two calls in one answer, one of which fails, and a last word. */
const DIALECTS: Readonly<Record<string, readonly object[]>> = {
  "Anthropic's Messages": [
    ask,
    {
      role: "assistant",
      content: [
        { type: "thinking", thinking: "Hm.", signature: "x" },
        text("I look."),
        { type: "tool_use", id: "c1", name: "read", input },
        { type: "tool_use", id: "c2", name: "read", input: {} },
      ],
    },
    {
      role: "user",
      content: [
        { type: "tool_result", tool_use_id: "c2", is_error: true, content: "no path" },
        { type: "tool_result", tool_use_id: "c1", content: [text("port = 1")] },
        text("Quick, please"),
      ],
    },
    { role: "assistant", content: [text("Done.")] },
  ],
  "Amazon Bedrock's Converse": [
    { role: "user", content: [{ text: "Fix the port" }] },
    {
      role: "assistant",
      content: [
        { reasoningContent: { reasoningText: { text: "Hm." } } },
        { text: "I look." },
        { toolUse: { toolUseId: "c1", name: "read", input } },
        { toolUse: { toolUseId: "c2", name: "read", input: {} } },
      ],
    },
    {
      role: "user",
      content: [
        { toolResult: { toolUseId: "c1", content: [{ text: "port = 1" }], status: "success" } },
        { toolResult: { toolUseId: "c2", content: [{ text: "no path" }], status: "error" } },
        { text: "Quick, please" },
      ],
    },
    { role: "assistant", content: [{ text: "Done." }] },
  ],
  "the AI SDK": [
    ask,
    {
      role: "assistant",
      content: [
        { type: "reasoning", text: "Hm." },
        text("I look."),
        { type: "tool-call", toolCallId: "c1", toolName: "read", input },
        { type: "tool-call", toolCallId: "c2", toolName: "read", args: {} },
      ],
    },
    {
      role: "tool",
      content: [
        { type: "tool-result", toolCallId: "c1", toolName: "read", output: { type: "text", value: "port = 1" } },
        { type: "tool-result", toolCallId: "c2", toolName: "read", output: { type: "error-text", value: "no path" } },
      ],
    },
    { role: "user", content: "Quick, please" },
    { role: "assistant", content: "Done." },
  ],
  Amp: [
    { ...ask, content: [text("Fix the port")], messageId: 0 },
    {
      role: "assistant",
      content: [
        { type: "thinking", thinking: "Hm." },
        text("I look."),
        { type: "tool_use", complete: true, id: "c1", name: "read", input },
        { type: "tool_use", complete: true, id: "c2", name: "read", input: {} },
      ],
    },
    {
      role: "user",
      content: [
        {
          type: "tool_result",
          toolUseID: "c1",
          run: { status: "done", result: { absolutePath: "/w/a.ts", content: "port = 1" } },
        },
        { type: "tool_result", toolUseID: "c2", run: { status: "error", error: "no path" } },
        text("Quick, please"),
      ],
    },
    { role: "assistant", content: [text("Done.")] },
  ],
  LangChain: [
    { type: "human", content: "Fix the port" },
    {
      type: "ai",
      content: [{ type: "thinking", thinking: "Hm." }, text("I look."), { type: "tool_use", id: "c1", name: "read", input }],
      tool_calls: [
        { type: "tool_call", id: "c1", name: "read", args: input },
        { type: "tool_call", id: "c2", name: "read", args: {} },
      ],
    },
    { type: "tool", tool_call_id: "c1", content: "port = 1" },
    { type: "tool", tool_call_id: "c2", content: "no path", status: "error" },
    { type: "human", content: "Quick, please" },
    { type: "ai", content: "Done." },
  ],
};

describe("messages of APIs and frameworks are read with their calls and results", () => {
  it.each([
    ...Object.entries(DIALECTS).map(([name, messages]) => [name, JSON.stringify({ messages })]),
    ["a bare list", JSON.stringify(DIALECTS["Anthropic's Messages"])],
  ])("%s", async (_, recording) => {
    const { format, sessions, dropped } = await importText(recording ?? "");
    const [session] = sessions;
    const results = session?.steps[1]?.observations?.toSorted((a, b) => ((a.call_id ?? "") < (b.call_id ?? "") ? -1 : 1));
    expect([format, dropped.filter(({ reason }) => reason !== "repeated tool call")]).toEqual(["chat-jsonl", []]);
    expect(session?.steps).toMatchObject([
      { source: "user", text: "Fix the port" },
      {
        ...{ source: "agent", text: "I look.", reasoning: "Hm." },
        tool_calls: [
          { id: "c1", name: "read", arguments: JSON.stringify(input) },
          { id: "c2", name: "read", arguments: "{}" },
        ],
      },
      { source: "user", text: "Quick, please" },
      { source: "agent", text: "Done." },
    ]);
    expect(results).toEqual([
      { call_id: "c1", content: "port = 1" },
      { call_id: "c2", content: "no path", is_error: true },
    ]);
  });
});

it("reads the system text that stands beside the messages, and counts parts that say nothing known", async () => {
  const answer = {
    role: "assistant",
    content: [text("Done."), { type: "redacted_thinking", data: "x" }, { type: "text", text: "" }],
  };
  const imported = await importText(JSON.stringify({ system: [text("You fix.")], messages: [ask, answer] }));
  expect(imported.sessions[0]?.steps.map(({ text: said }) => said)).toEqual(["You fix.", "Fix the port", "Done."]);
  expect(droppedOf(imported)).toEqual({ "line not read: part redacted_thinking": 1 });
});

it("takes a call that the person refused in Amp for context", async () => {
  const run = { status: "rejected-by-user", reason: "not that one" };
  const messages = [
    ask,
    { role: "assistant", content: [{ type: "tool_use", id: "c1", name: "bash", input: { cmd: "rm a.ts" } }] },
    { role: "user", content: [{ type: "tool_result", toolUseID: "c1", run }] },
    { role: "assistant", content: [text("Done.")] },
  ];
  const { sessions } = await importText(JSON.stringify({ id: "T-1", messages }));
  expect(sessions[0]?.steps.map(({ context_only: why }) => why)).toEqual([undefined, "refused", undefined]);
  expect(sessions[0]?.steps[1]?.observations).toEqual([{ call_id: "c1", content: "not that one", is_error: true }]);
});

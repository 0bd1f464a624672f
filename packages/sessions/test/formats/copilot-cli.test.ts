import { describe, expect, it } from "vitest";
import { answersOf, countsOf, droppedOf, importText, jsonLines, usersOf } from "../support/import-text.js";

let count = 0;
const event = (type: string, data: object, rest: object = {}): object => {
  const id = `e${count++}`;
  return { type, data, id, timestamp: "2026-01-05T10:00:00.000Z", parentId: null, ...rest };
};
const start = event("session.start", {
  sessionId: "s-1",
  producer: "copilot-agent",
  copilotVersion: "1.0.55",
  selectedModel: "m-1",
});
const user = (content: string, data: object = {}): object => event("user.message", { content, ...data });
const answer = (content: string, data: object = {}): object =>
  event("assistant.message", { messageId: `m${count}`, content, toolRequests: [], ...data });
const request = (id: string, args: unknown = {}): object => ({ toolCallId: id, name: "bash", arguments: args });
const began = (id: string): object =>
  event("tool.execution_start", { toolCallId: id, toolName: "bash", arguments: { command: id } });
const done = (id: string, data: object = { result: { content: id } }): object =>
  event("tool.execution_complete", { toolCallId: id, success: true, ...data });
const read = (...events: readonly object[]): ReturnType<typeof importText> => importText(jsonLines(start, ...events));

describe("copilot-cli", () => {
  it("joins the parts of one answer, and keeps its reasoning apart", async () => {
    const imported = await read(
      user("Go"),
      event("assistant.reasoning", { content: "Hm.", reasoningId: "r" }),
      answer("First", { apiCallId: "a1", reasoningText: "Hm." }),
      answer("second", { apiCallId: "a1", toolRequests: [request("c1", '{"command":"ls"}')] }),
      began("c1"),
      done("c1", { success: false, error: { message: "denied", code: "rejected" } }),
    );
    expect(countsOf(imported)).toEqual([1, 1, 1, 1]);
    expect(imported.sessions[0]?.steps[1]).toMatchObject({
      text: "First\n\nsecond",
      reasoning: "Hm.",
      tool_calls: [{ id: "c1", arguments: '{"command":"ls"}' }],
      observations: [{ call_id: "c1", content: "denied", is_error: true }],
    });
    expect(imported.sessions[0]?.source).toMatchObject({ format_version: "1.0.55", model: "m-1" });
  });

  it("counts a call that only its start names, and none twice", async () => {
    const named = answer("Look", { toolRequests: [request("c1")] });
    const imported = await read(user("Go"), named, began("c1"), done("c1"), answer(""), began("c2"), done("c2"));
    expect(countsOf(imported)).toEqual([1, 2, 2, 2]);
  });

  it("leaves sub-agents' events out, with the prompt that began them", async () => {
    const task = answer("", { toolRequests: [request("t1", { prompt: "Inspect it" })] });
    const imported = await read(
      user("Go"),
      task,
      user("Inspect it"),
      answer("inner", { parentToolCallId: "t1" }),
      { ...done("c9"), agentId: "t1" },
      done("t1"),
      answer("Inspected."),
    );
    expect(countsOf(imported)).toEqual([1, 2, 1, 1]);
    expect(answersOf(imported)).toEqual(["", "Inspected."]);
    expect(droppedOf(imported)).toEqual({ "sub-agent lines": 3 });
  });

  it("tells the tool's own messages from a person's, and keeps what a person ran for the next request", async () => {
    const imported = await read(
      event("tool.user_requested", { toolCallId: "u1", toolName: "bash", arguments: { command: "npm test" } }),
      began("u1"),
      done("u1", { result: { content: "1 failed" }, isUserRequested: true }),
      user("Fix that"),
      user("Read this skill", { source: "skill-pdf" }),
      answer("On it"),
      event("system.notification", { content: "shell finished", kind: { type: "shell_completed" } }),
      user("Go on", { isAutopilotContinuation: true }),
      event("session.task_complete", { success: true }),
    );
    expect(usersOf(imported)).toEqual(["$ npm test\n1 failed\n\nFix that"]);
    expect(countsOf(imported)).toEqual([1, 1, 0, 0]);
    expect(imported.sessions[0]).toMatchObject({ outcome: "unknown", outcome_signal: "task_complete" });
    expect(imported.sessions[0]?.steps[1]?.observations).toEqual([{ call_id: null, content: "shell finished" }]);
    expect(droppedOf(imported)).toEqual({ "harness text": 2 });
  });

  it("keeps the first system prompt, follows a rewind, and counts summaries", async () => {
    const second = user("Two");
    const imported = await read(
      user("One"),
      event("system.message", { role: "system", content: "Be brief." }),
      answer("1"),
      event("system.message", { role: "system", content: "Be brief." }),
      second,
      answer("2"),
      event("session.snapshot_rewind", { upToEventId: (second as { id: string }).id, eventsRemoved: 2 }),
      event("session.compaction_complete", { success: true, summaryContent: "One was done." }),
      user("Three"),
      answer("3"),
    );
    expect(imported.sessions[0]?.steps.map((step) => step.text)).toEqual(["Be brief.", "One", "1", "Three", "3"]);
    expect(droppedOf(imported)).toEqual({ "abandoned branch": 2, "compaction summary": 1 });
  });

  it("learns no call that the person stopped instead of allowing it", async () => {
    const asks = (id: string): object =>
      event("assistant.message", { messageId: id, content: id, toolRequests: [{ toolCallId: id, name: "bash", arguments: {} }] });
    const ends = (kind: string): object => event("permission.completed", { result: { kind } });
    const imported = await read(
      user("Go"),
      asks("a"),
      ends("approved"),
      asks("b"),
      ends("cancelled"),
      user("Other"),
      answer("c"),
    );
    const answers = imported.sessions[0]?.steps.filter(({ source }) => source === "agent");
    expect(answers?.map((step) => step.context_only ?? step.text)).toEqual(["a", "refused", "c"]);
  });

  it("is known in the middle of a recording whose first lines are gone", async () => {
    for (const first of [user("x"), answer("y"), done("c1")])
      expect((await importText(jsonLines(first, user("x"), answer("y")))).format).toBe("copilot-cli");
  });

  it("says where a result was not recorded, and leaves an empty one empty", async () => {
    const imported = await read(
      user("Go"),
      answer("", { toolRequests: ["c1", "c2", "c3", "c4"].map((id) => request(id)) }),
      done("c1", {}),
      done("c2", { result: { content: "" } }),
      done("c3", { success: false }),
      done("c4", { result: { detailedContent: "diff" } }),
      answer("So."),
    );
    expect(imported.sessions[0]?.steps[1]?.observations).toEqual([
      { call_id: "c1", content: "[result not recorded]" },
      { call_id: "c2", content: "" },
      { call_id: "c3", content: "[result not recorded]", is_error: true },
      { call_id: "c4", content: "[result not recorded]" },
    ]);
    expect(droppedOf(imported)).toEqual({ "tool result not recorded": 3 });
  });

  it("reads a transcript of Copilot Chat, which has no results, and arguments as text", async () => {
    const imported = await importText(
      jsonLines(
        event("session.start", {
          sessionId: "s-2",
          producer: "copilot-agent",
          copilotVersion: "0.40.0",
          vscodeVersion: "1.112.0",
        }),
        user("Start the table at midnight."),
        answer("I read it.", {
          toolRequests: [{ toolCallId: "tc1", name: "read_file", arguments: '{"filePath":"table.py"}', type: "function" }],
        }),
        event("tool.execution_start", { toolCallId: "tc1", toolName: "read_file", arguments: { filePath: "table.py" } }),
        event("tool.execution_complete", { toolCallId: "tc1", success: true }),
        answer("START has to be 0."),
      ),
    );
    expect(imported.sessions[0]?.steps[1]).toMatchObject({
      tool_calls: [{ id: "tc1", arguments: '{"filePath":"table.py"}' }],
      observations: [{ call_id: "tc1", content: "[result not recorded]" }],
    });
  });
});

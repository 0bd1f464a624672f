import { describe, expect, it } from "vitest";
import { answersOf, countsOf, droppedOf, importCase, importText, jsonLines, usersOf } from "../support/import-text.js";

const R = "REDACTED";

describe("things of one id", () => {
  it("are told apart by their place in an opencode export", async () => {
    const imported = await importCase("opencode-redacted.json");
    expect(countsOf(imported)).toEqual([1, 2, 2, 2]);
    expect(imported.sessions[0]?.steps[1]?.observations).toEqual([
      { call_id: R, content: "START = 6" },
      { call_id: `${R}-2`, content: "Monday" },
    ]);
  });

  it("are told apart by their place in a Codex rollout, also where calls stand in a row", async () => {
    expect(countsOf(await importCase("codex-redacted.jsonl"))).toEqual([1, 3, 2, 2]);
    const item = (payload: object): object => ({ timestamp: "2026-01-05T10:00:00.000Z", type: "response_item", payload });
    const call = (name: string): object => item({ type: "function_call", name, arguments: "{}", call_id: R });
    const output = (said: string): object => item({ type: "function_call_output", call_id: R, output: said });
    const imported = await importText(jsonLines(call("a"), call("b"), call("a"), output("of a"), output("of b"), output("more")));
    expect(imported.sessions[0]?.steps[0]).toMatchObject({
      tool_calls: [
        { id: R, name: "a" },
        { id: `${R}-2`, name: "b" },
      ],
      observations: [
        { call_id: R, content: "of a" },
        { call_id: `${R}-2`, content: "of b" },
      ],
    });
    expect(droppedOf(imported)).toEqual({ "repeated tool call": 1, "repeated tool result": 1 });
  });

  it("are lines of their own in a Claude Code log, unless they say the same", async () => {
    const line = (type: string, content: unknown): object => ({
      type,
      uuid: R,
      parentUuid: R,
      sessionId: "s-1",
      requestId: R,
      message: { role: type, content, ...(type === "assistant" && { id: R, model: "m-1" }) },
    });
    const use = (name: string): object => ({ type: "tool_use", id: R, name, input: {} });
    const result = (content: string): object[] => [{ type: "tool_result", tool_use_id: R, content }];
    const imported = await importText(
      jsonLines(
        line("user", "Go"),
        line("assistant", [{ type: "text", text: "Two things." }]),
        line("assistant", [use("Read")]),
        line("assistant", [use("Grep")]),
        line("user", result("read")),
        line("user", result("found")),
        line("assistant", [{ type: "text", text: "Done." }]),
        line("assistant", [{ type: "text", text: "Done." }]),
      ),
    );
    expect(countsOf(imported)).toEqual([1, 2, 2, 2]);
    expect(answersOf(imported)).toEqual(["Two things.", "Done."]);
    expect(imported.sessions[0]?.steps[1]?.observations?.map(({ content }) => content)).toEqual(["read", "found"]);
    expect(droppedOf(imported)).toEqual({ "repeated line": 1 });
  });

  it("are messages of their own in a Gemini CLI chat, whose corrections keep their time", async () => {
    const message = (second: number, type: string, content: unknown, rest: object = {}): object => ({
      id: R,
      type,
      content,
      timestamp: `2026-01-05T10:00:0${second}.000Z`,
      ...rest,
    });
    const call = (command: string, output: string): object => ({
      id: R,
      name: "shell",
      args: { command },
      status: "success",
      result: [{ functionResponse: { id: R, name: "shell", response: { output } } }],
    });
    const imported = await importText(
      jsonLines(
        { sessionId: "s-1", projectHash: "ab" },
        message(1, "user", "Go"),
        message(2, "gemini", "Loo"),
        message(2, "gemini", "Looking.", { toolCalls: [call("ls", "a"), call("pwd", "/")] }),
        message(3, "gemini", "Done."),
      ),
    );
    expect([usersOf(imported), answersOf(imported)]).toEqual([["Go"], ["Looking.", "Done."]]);
    expect(imported.sessions[0]?.steps[1]?.observations?.map(({ content }) => content)).toEqual(["a", "/"]);
    expect(droppedOf(imported)).toEqual({ "repeated line": 1 });
  });

  it("are entries of their own in a pi session and events of their own in OpenHands", async () => {
    const entry = (role: string, content: unknown): object => ({
      type: "message",
      id: R,
      parentId: R,
      message: { role, content, ...(role === "assistant" && { stopReason: "stop" }) },
    });
    const pi = await importText(
      jsonLines({ type: "session", version: 3, id: "s" }, entry("user", "One"), entry("assistant", "1"), entry("user", "Two")),
    );
    expect([usersOf(pi), answersOf(pi)]).toEqual([["One", "Two"], ["1"]]);
    const event = (kind: string, rest: object): object => ({ kind, id: R, source: "agent", llm_response_id: R, ...rest });
    const act = (command: string): object =>
      event("ActionEvent", {
        tool_name: "bash",
        tool_call_id: R,
        tool_call: { id: R, name: "bash", arguments: command },
        thought: [],
      });
    const saw = (content: string): object => event("ObservationEvent", { tool_call_id: R, observation: { content } });
    const hands = await importText(jsonLines(act("a"), saw("1"), act("b"), saw("2"), saw("2")));
    expect(countsOf(hands)).toEqual([0, 2, 2, 2]);
    expect(droppedOf(hands)).toEqual({ "repeated line": 1 });
  });
});

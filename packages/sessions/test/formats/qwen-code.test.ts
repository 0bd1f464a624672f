import { describe, expect, it } from "vitest";
import { answersOf, countsOf, droppedOf, importText, jsonLines, usersOf } from "../support/import-text.js";

const SESSION = "019f0000-0000-7000-8000-000000000001";
const line = (uuid: string, parentUuid: string | null, type: string, parts: readonly object[], rest: object = {}): object => ({
  uuid,
  parentUuid,
  sessionId: SESSION,
  timestamp: "2026-01-05T10:00:00.000Z",
  type,
  version: "0.21.13",
  message: { role: type === "assistant" ? "model" : "user", parts },
  ...rest,
});
const system = (uuid: string, parentUuid: string | null, subtype: string): object => ({
  uuid,
  parentUuid,
  sessionId: SESSION,
  type: "system",
  subtype,
  systemPayload: {},
});
const text = (value: string): object => ({ text: value });
const call = (id: string): object => ({ functionCall: { id, name: "shell", args: { command: id } } });
const response = (id: string, body: object): object => ({ functionResponse: { id, name: "shell", response: body } });
const read = (...lines: readonly object[]): ReturnType<typeof importText> => importText(jsonLines(...lines));

describe("qwen-code", () => {
  it("is not taken for Claude Code, whichever line comes first", async () => {
    const lines = [
      system("s", null, "ui_telemetry"),
      line("u", "s", "user", [text("Go")]),
      line("a", "u", "assistant", [call("c1")]),
      line("r", "a", "tool_result", [response("c1", { output: "x" })]),
    ];
    for (const from of [0, 1, 2]) {
      const imported = await read(...lines.slice(from));
      expect(imported.format).toBe("qwen-code");
      expect(countsOf(imported).slice(1)).toEqual([1, 1, 1]);
    }
  });

  it("joins records of one uuid, and marks results that failed", async () => {
    const imported = await read(
      line("u", null, "user", [text("Go")]),
      line("a", "u", "assistant", [{ text: "Look.", thought: true }]),
      line("a", "u", "assistant", [text("Looking."), call("c1"), call("c2")], { model: "m-1" }),
      line("r", "a", "tool_result", [response("c1", { error: "no" })]),
      line("q", "r", "tool_result", [response("c2", { output: "stopped" })], { toolCallResult: { status: "cancelled" } }),
    );
    expect(countsOf(imported)).toEqual([1, 1, 2, 2]);
    expect(imported.sessions[0]?.steps[1]).toMatchObject({
      text: "Looking.",
      reasoning: "Look.",
      observations: [
        { call_id: "c1", content: "no", is_error: true },
        { call_id: "c2", content: "stopped", is_error: true },
      ],
    });
    expect(imported.sessions[0]?.source).toMatchObject({ model: "m-1", format_version: "0.21.13" });
  });

  it("leaves out what a rewind left behind, and notes behind the end", async () => {
    const imported = await read(
      line("u", null, "user", [text("One")]),
      line("a", "u", "assistant", [text("dead end")]),
      system("w", "u", "rewind"),
      line("v", "w", "user", [text("Two")], { subtype: "mid_turn_user_message" }),
      line("b", "v", "assistant", [text("2")]),
      system("n", null, "session_artifact_snapshot"),
    );
    expect(usersOf(imported)).toEqual(["One", "Two"]);
    expect(answersOf(imported)).toEqual(["2"]);
    expect(droppedOf(imported)).toEqual({ "abandoned branch": 1, "line not read: system session_artifact_snapshot": 1 });
  });

  it("tells the tool's own words from a person's, and keeps the turns before a summary", async () => {
    const imported = await read(
      line("u", null, "user", [text("Go"), text("<qwen:user-prompt-submit-context>\nhook\n</qwen:user-prompt-submit-context>")]),
      line("a", "u", "assistant", [text("1")]),
      system("c", "a", "chat_compression"),
      system("l", "c", "slash_command"),
      line("n", "l", "user", [text("A task ended.")], { subtype: "notification", provenance: "system" }),
      line("b", "n", "assistant", [text("2")]),
    );
    expect(usersOf(imported)).toEqual(["Go"]);
    expect(imported.sessions[0]?.steps[1]?.observations).toEqual([{ call_id: null, content: "A task ended." }]);
    expect(droppedOf(imported)).toEqual({ "compaction summary": 1, "local command": 1 });
  });

  it("keeps what a fork took over as context, and names the parent", async () => {
    const taken = { forkedFrom: { sessionId: "s-1", messageUuid: "u" } };
    const forked = await read(
      line("u", null, "user", [text("Go")], taken),
      line("a", "u", "assistant", [text("1")], taken),
      line("v", "a", "user", [text("And on")]),
      line("b", "v", "assistant", [text("2")]),
    );
    expect(forked.sessions[0]?.parent).toEqual({ session_id: "s-1", kinship: "fork" });
    expect(forked.sessions[0]?.steps.map((step) => step.context_only ?? "")).toEqual(["copied", "copied", "", ""]);
  });

  it("takes a sub-agent's file for a session of its own", async () => {
    const own = { isSidechain: true, agentId: "explore-7f3c" };
    const lines = [line("u", null, "user", [text("Find it")], own), line("a", "u", "assistant", [text("Found.")], own)];
    expect((await read(...lines)).file_id).toBe(`${SESSION}-agent-explore-7f3c`);
    const mixed = await read(...lines, line("v", "a", "user", [text("Go")]), line("b", "v", "assistant", [text("1")]));
    expect(usersOf(mixed)).toEqual(["Go"]);
    expect(droppedOf(mixed)).toEqual({ "sub-agent lines": 2 });
  });

  it("reads the documents that its first versions wrote", async () => {
    const messages = [
      { id: "1", timestamp: "2026-01-05T10:00:00Z", type: "user", content: "Go" },
      { id: "2", timestamp: "2026-01-05T10:00:01Z", type: "qwen", content: "Gone." },
    ];
    const imported = await importText(JSON.stringify({ sessionId: "s", projectHash: "ab", messages }));
    expect(countsOf(imported)).toEqual([1, 1, 0, 0]);
    expect(imported.sessions[0]?.source).toMatchObject({ format: "gemini-cli", agent: "qwen-code" });
  });
});

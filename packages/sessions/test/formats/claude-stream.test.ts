import { describe, expect, it } from "vitest";
import { answersOf, countsOf, droppedOf, importCase, importText, jsonLines, usersOf } from "../support/import-text.js";

const SESSION = "5b0e8a52-6c1d-4f0a-9a55-0c2f6c1f7001";
const line = (type: string, content: unknown, rest: object = {}): object => ({
  type,
  message: { role: type, content, ...(type === "assistant" && { id: `msg_${JSON.stringify(content).length}`, model: "m-1" }) },
  parent_tool_use_id: null,
  session_id: SESSION,
  ...rest,
});
const text = (words: string): object[] => [{ type: "text", text: words }];

describe("what claude -p prints", () => {
  it.each(["claude-stream.jsonl", "claude-stream-old.jsonl"])("is read as a run without its request: %s", async (name) => {
    const imported = await importCase(name);
    expect([imported.format, imported.file_id]).toEqual(["claude-stream", SESSION]);
    expect(countsOf(imported)).toEqual([0, 3, 2, 2]);
    expect(answersOf(imported)[0]).toBe("I let a helper find the gauge.");
    expect(droppedOf(imported)).toEqual({ "sub-agent lines": 4 });
    expect(imported.sessions[0]).toMatchObject({ outcome: "unknown", outcome_signal: "success" });
    expect(imported.sessions[0]?.tools.map((tool) => tool.name)).toEqual(["Bash", "Read", "Edit", "Task"]);
    expect(imported.warnings.join()).toContain("The request is not in the recording");
  });

  it("keeps what Cowork's log has of a person, once, and the sub-agents' prompts apart", async () => {
    const audit = { _audit_timestamp: "2026-01-05T10:00:00.000Z", uuid: "u1" };
    const imported = await importText(
      jsonLines(
        line("user", "Sort my notes", { session_id: "local_1", ...audit }),
        { type: "system", subtype: "init", session_id: SESSION, tools: ["Task"], claude_code_version: "2.1.0", ...audit },
        line("user", "Sort my notes", { isReplay: true, ...audit }),
        line("assistant", text("Sorting."), audit),
        line("user", text("Find the notes"), { parent_tool_use_id: "t1", ...audit }),
        line("user", text("Base directory for this skill: x"), { isSynthetic: true, ...audit }),
        line("user", text("<task-notification>done</task-notification>"), { ...audit, uuid: "u2" }),
        { type: "rate_limit_event", session_id: SESSION, ...audit },
        { type: "result", subtype: "error_max_turns", is_error: true, session_id: SESSION, ...audit },
      ),
    );
    expect([imported.format, imported.file_id]).toEqual(["claude-stream", SESSION]);
    expect([usersOf(imported), answersOf(imported)]).toEqual([["Sort my notes"], ["Sorting."]]);
    expect(droppedOf(imported)).toEqual({
      "repeated line": 1,
      "sub-agent lines": 1,
      "harness text": 1,
      "line not read: rate_limit_event": 1,
    });
    expect(imported.sessions[0]?.steps[1]?.observations?.map(({ content }) => content)).toEqual([
      "<task-notification>done</task-notification>",
    ]);
    expect(imported.sessions[0]).toMatchObject({ outcome_signal: "error_max_turns", started_at: audit._audit_timestamp });
    expect(imported.warnings).toEqual([]);
  });

  it("is not taken for that of other tools that print almost the same", async () => {
    const cursor = {
      type: "system",
      subtype: "init",
      apiKeySource: "login",
      session_id: "s",
      model: "m",
      permissionMode: "default",
    };
    await expect(importText(jsonLines(cursor, line("user", "Go")))).rejects.toThrow(/a recording of Cursor/);
    const gemini = { type: "init", timestamp: "2026-01-05T10:00:00.000Z", session_id: "s", model: "gemini-3-pro" };
    await expect(importText(jsonLines(gemini))).rejects.toThrow(/looks like gemini-stream/);
  });
});

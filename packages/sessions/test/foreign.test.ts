import { describe, expect, it } from "vitest";
import { importText, jsonLines } from "./support/import-text.js";

const uuid = "041101e6-2a7f-4dfd-90b0-57888a353f6a";
const claudeLike = { uuid: "u1", parentUuid: null, sessionId: `session-${uuid}`, isSidechain: false, type: "user" };
const text = (value: string): object => ({ content: [{ type: "text", text: value }] });
const grok = [
  { type: "system", content: "You are a helpful agent." },
  { type: "user", content: [{ type: "text", text: "x" }], prompt_index: 0 },
  { type: "reasoning", id: "rs_1", summary: [{ type: "summary_text", text: "Look." }], status: "completed" },
  { type: "assistant", content: "ok", tool_calls: [{ id: "c", name: "read", arguments: "{}" }], model_id: "grok-x" },
];
const resolver = {
  issue: { number: 1, title: "Dark mode" },
  instruction: "Fix",
  git_patch: "",
  history: [
    { content: "Fix", action: "message" },
    { command: "ls", action: "run" },
  ],
};

describe("a recording of a tool that is not read", () => {
  it.each([
    ["Cursor", jsonLines({ role: "user", message: text("x") }, { role: "assistant", message: text("y") })],
    ["Cursor", JSON.stringify({ composerId: uuid, conversation: [{ type: 1, bubbleId: "b", text: "x" }] })],
    ["Cursor", "# Landing page\n_Exported on 10/7/2026 at 17:09:40 GMT+5:30 from Cursor (3.2.11)_\n\n---\n\n**User**\n\nx\n"],
    ["Kimi CLI", jsonLines({ role: "user", content: "x" }, { role: "_checkpoint", id: 0 }, { role: "assistant", content: [] })],
    ["Kimi CLI", jsonLines({ type: "metadata", protocol_version: "1.4" }, { type: "turn.prompt", input: [] })],
    ["Droid", jsonLines({ type: "session_start", id: "d", sessionTitle: "x" }, { type: "message", id: "m", message: text("x") })],
    ["gptme", jsonLines({ role: "system", content: "You are gptme v0.28", timestamp: "2026-01-05T10:00:00", pinned: true })],
    ["OpenHands resolver", jsonLines(resolver)],
    ["iFlow CLI", jsonLines({ ...claudeLike, message: { role: "user", content: "x" } })],
    ["Grok CLI", jsonLines(...grok)],
    ["Grok CLI", jsonLines(...grok.slice(2))],
    ["api_conversation_history.json", JSON.stringify([{ ts: 1767607200000, type: "say", say: "text", text: "x" }])],
    ["chats/session", JSON.stringify([{ sessionId: "s", messageId: 0, type: "user", message: "x", timestamp: "t" }])],
  ])("is refused by the name of %s, with what to bring instead", async (named, recording) => {
    const refused = importText(recording);
    await expect(refused).rejects.toMatchObject({ code: "SESSION_UNREADABLE" });
    await expect(refused).rejects.toThrow(named);
    await expect(refused).rejects.toThrow(/^[^\n]* does not read; bring [^\n]*\.$/);
  });

  it("is still read where a format is forced", async () => {
    const lines = jsonLines({ ...claudeLike, message: { role: "user", content: "x" } });
    expect((await importText(lines, { format: "claude-code" })).counts.user_turns).toBe(1);
  });
});

import { describe, expect, it } from "vitest";
import { answersOf, countsOf, droppedOf, importText, jsonLines, usersOf } from "../support/import-text.js";

const head = { sessionId: "s-1", projectHash: "ab", startTime: "2026-01-05T10:00:00.000Z" };
const stamp = "2026-01-05T10:00:01.000Z";
const user = (id: string, content: unknown): object => ({ id, timestamp: stamp, type: "user", content });
const answer = (id: string, content: unknown, rest: object = {}): object => ({
  id,
  timestamp: stamp,
  type: "gemini",
  content,
  model: "gemini-x",
  ...rest,
});
const response = (id: string | undefined, body: object): object => ({ functionResponse: { id, name: "shell", response: body } });
const call = (id: string, rest: object = {}): object => ({
  id,
  name: "shell",
  args: { command: id },
  status: "success",
  ...rest,
});
const read = (...lines: readonly object[]): ReturnType<typeof importText> => importText(jsonLines(head, ...lines));

describe("gemini-cli", () => {
  it("keeps thoughts apart, and takes the last copy of a message that was written again", async () => {
    const thoughts = [{ subject: "Plan", description: "Look first." }];
    const imported = await read(
      user("u", "List"),
      answer("a", "Looking.", { thoughts }),
      answer("a", "Looking.", { thoughts, toolCalls: [call("c1", { result: [response("c1", { output: "x" })] })] }),
    );
    expect(countsOf(imported)).toEqual([1, 1, 1, 1]);
    expect(imported.sessions[0]?.steps[1]).toMatchObject({ text: "Looking.", reasoning: "**Plan**\nLook first." });
    expect(imported.sessions[0]?.source).toMatchObject({ agent: "gemini-cli", model: "gemini-x" });
  });

  it("marks failed and cancelled calls, and gives a call without a response what the screen showed", async () => {
    const imported = await read(
      user("u", "Go"),
      answer("a", "", {
        toolCalls: [
          call("c1", { status: "error", result: [response("c1", { error: "no such file" })] }),
          call("c2", { status: "cancelled", resultDisplay: "stopped" }),
          call("c3", { status: "executing" }),
        ],
      }),
    );
    expect(countsOf(imported)).toEqual([1, 1, 3, 2]);
    expect(imported.sessions[0]?.steps[1]?.observations).toEqual([
      { call_id: "c1", content: "no such file", is_error: true },
      { call_id: "c2", content: "stopped", is_error: true },
    ]);
  });

  it("never doubles a call that the tool's whole history names again", async () => {
    const content = [{ text: "Looking." }, { functionCall: { name: "shell", args: { command: "c1" } } }];
    const result = [response("c1", { output: "x" })];
    const imported = await read(
      user("u", "List"),
      answer("a", content, { toolCalls: [call("c1", { result })] }),
      user("r", result),
      answer("b", [{ functionCall: { id: "c1", name: "shell", args: { command: "c1" } } }]),
    );
    expect(countsOf(imported)).toEqual([1, 1, 1, 1]);
  });

  it("follows a rewind, and keeps the turns that a compaction replaced", async () => {
    const rewound = await read(user("u", "One"), answer("a", "1"), user("v", "Two"), answer("b", "2"), { $rewindTo: "v" });
    expect([usersOf(rewound), droppedOf(rewound)]).toEqual([["One"], { "abandoned branch": 2 }]);
    const summary = user("s", "<state_snapshot>done so far</state_snapshot>");
    const again = answer("b2", "1");
    const compacted = await read(
      user("u", "One"),
      answer("a", "1"),
      summary,
      again,
      { $set: { messages: [summary, again] } },
      user("v", "Two"),
      answer("b", "2"),
    );
    expect([usersOf(compacted), answersOf(compacted)]).toEqual([
      ["One", "Two"],
      ["1", "2"],
    ]);
    expect(droppedOf(compacted)).toEqual({ "compaction summary": 1 });
  });

  it("leaves out turns that an interrupted request took back", async () => {
    const [u, a] = [user("u", "One"), answer("a", "1")];
    const imported = await read(u, a, user("v", "Never sent"), { $set: { messages: [u, a] } });
    expect([usersOf(imported), droppedOf(imported)]).toEqual([["One"], { "abandoned branch": 1 }]);
  });

  it("tells the tool's own words and commands from a person's", async () => {
    const imported = await read(
      user("c", [{ text: "<session_context>\ntoday\n</session_context>" }]),
      user("h", "/help"),
      user("u", [{ text: "See " }, { inlineData: { mimeType: "image/png", data: "AA" } }]),
      answer("a", "Seen."),
      { id: "i", timestamp: stamp, type: "info", content: "Request cancelled." },
    );
    expect(usersOf(imported)).toEqual(["See [image]"]);
    expect(droppedOf(imported)).toEqual({ "harness text": 1, "local command": 1, "environment note": 1 });
  });

  it("puts what a person ran ahead of the next request", async () => {
    const ran =
      "I ran the following shell command:\n```sh\nnpm test\n```\n\nThis produced the following result:\n```\n1 failed\n```";
    const mode = "User has manually exited Plan Mode. Switching to Default mode.";
    const imported = await read(user("r", ran), user("m", mode), user("u", "Fix that"), answer("a", "Fixed."));
    expect(usersOf(imported)).toEqual([`${ran}\n\nFix that`]);
    expect(droppedOf(imported)).toEqual({ "harness text": 1 });
  });

  it("is known in the middle of a recording whose first lines are gone", async () => {
    expect((await importText(jsonLines(user("u", "x"), answer("a", "y")))).format).toBe("gemini-cli");
  });

  it("reads a saved checkpoint, with results that name no call", async () => {
    const history = [
      { role: "user", parts: [{ text: "This is the Gemini CLI. We are setting up the context for our chat." }] },
      { role: "model", parts: [{ text: "Got it. Thanks for the context!" }] },
      { role: "user", parts: [{ text: "List" }] },
      { role: "model", parts: [{ text: "hm", thought: true }, { functionCall: { name: "shell", args: { command: "ls" } } }] },
      { role: "user", parts: [response(undefined, { output: "a" })] },
      { role: "model", parts: [{ text: "One " }, { text: "file." }] },
    ];
    for (const file of [history, { history, authType: "x" }, { history: [{ type: "user" }], clientHistory: history }]) {
      const imported = await importText(JSON.stringify(file));
      expect(imported.format).toBe("gemini-cli");
      expect(countsOf(imported)).toEqual([1, 2, 1, 1]);
      expect(answersOf(imported)).toEqual(["", "One file."]);
    }
  });
});

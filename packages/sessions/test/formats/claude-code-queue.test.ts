import type { ImportedFile } from "@imprint/sessions";
import { describe, expect, it } from "vitest";
import { answersOf, droppedOf, importCase, importText, jsonLines, usersOf } from "../support/import-text.js";

const BASE = { isSidechain: false, sessionId: "sess-1", version: "2.0.40" };
const user = (uuid: string, parentUuid: string | null, content: unknown): object => ({
  ...BASE,
  type: "user",
  uuid,
  parentUuid,
  message: { role: "user", content },
});
const answer = (uuid: string, parentUuid: string, content: object): object => ({
  ...BASE,
  type: "assistant",
  uuid,
  parentUuid,
  message: { id: `msg_${uuid}`, role: "assistant", model: "m-1", content: [content] },
});
const call = (id: string): object => ({ type: "tool_use", id, name: "Bash", input: {} });
const result = (id: string): object[] => [{ type: "tool_result", tool_use_id: id, content: "ok" }];
const text = (words: string): object => ({ type: "text", text: words });
const attached = (uuid: string, parentUuid: string, attachment: object): object => ({
  ...BASE,
  type: "attachment",
  uuid,
  parentUuid,
  attachment: { type: "queued_command", commandMode: "prompt", ...attachment },
});
const queue = (operation: string, content?: string): object => ({
  type: "queue-operation",
  operation,
  sessionId: "sess-1",
  timestamp: "2026-01-05T10:00:00.000Z",
  ...(content !== undefined && { content }),
});
const notesOf = ({ sessions }: ImportedFile): string[] =>
  sessions.flatMap(({ steps }) =>
    steps.flatMap(({ observations = [] }) => observations.flatMap(({ call_id, content }) => (call_id === null ? [content] : []))),
  );
const opening = [user("u1", null, "Go"), answer("a1", "u1", call("c1"))];
const heard = user("r1", "a1", result("c1"));

describe("words that a person typed while Claude Code worked", () => {
  it("are a request at their place", async () => {
    const imported = await importCase("claude-queued.jsonl");
    expect(imported.sessions[0]?.steps.map(({ source, text: said }) => [source, said.slice(0, 9)])).toEqual([
      ["user", "Make the "],
      ["agent", "I look at"],
      ["user", "And print"],
      ["agent", "Midnight "],
      ["agent", "Done: the"],
    ]);
    expect(droppedOf(imported)).toEqual({});
  });

  it("come from a person alone: what tasks, other agents and the harness say is counted", async () => {
    const imported = await importText(
      jsonLines(
        ...opening,
        heard,
        attached("q1", "r1", { prompt: [text("Use"), text("feet")], origin: { kind: "human" } }),
        attached("q2", "q1", { prompt: "<task-notification>done</task-notification>", commandMode: "task-notification" }),
        attached("q3", "q2", { prompt: "I took the lock.", origin: { kind: "peer" } }),
        attached("q4", "q3", { prompt: "Go on.", isMeta: true }),
        { ...attached("q5", "q4", {}), attachment: { type: "hook_success", content: "fine" } },
        answer("a2", "q5", text("Feet.")),
      ),
    );
    expect(usersOf(imported)).toEqual(["Go", "Use\n\nfeet"]);
    expect(notesOf(imported)).toEqual(["<task-notification>done</task-notification>"]);
    expect(droppedOf(imported)).toEqual({ "harness text": 2, "line not read: attachment hook_success": 1 });
  });

  it("are found on the queue's lines where older builds wrote them nowhere else", async () => {
    const imported = await importText(
      jsonLines(
        ...opening,
        queue("enqueue", "And in feet."),
        heard,
        queue("remove"),
        answer("a2", "r1", text("Feet it is.")),
        queue("enqueue", "<task-notification>done</task-notification>"),
        queue("dequeue"),
        user("n", "a2", "<task-notification>done</task-notification>"),
        queue("enqueue", "Never mind"),
        queue("popAll", "Never mind"),
        queue("enqueue", "Too late"),
      ),
    );
    const steps = imported.sessions[0]?.steps.map(({ source, text: said }) => `${source} ${said}`);
    expect(steps).toEqual(["user Go", "agent ", "user And in feet.", "agent Feet it is."]);
    expect(notesOf(imported)).toEqual(["<task-notification>done</task-notification>"]);
    expect(droppedOf(imported)).toMatchObject({ "request that was never sent": 1 });
  });

  it("are told from notes that wait beside them and of which nothing more is said", async () => {
    const note = "<task-notification>done</task-notification>";
    const imported = await importText(
      jsonLines(
        ...opening,
        queue("enqueue", note),
        queue("enqueue", '{"task_id":"t1"}'),
        queue("enqueue", "In feet"),
        queue("enqueue", "And in red"),
        heard,
        queue("remove"),
        answer("a2", "r1", text("Feet.")),
        queue("dequeue"),
        user("n", "a2", note),
        answer("a3", "n", text("Noted.")),
        queue("dequeue"),
        user("u2", "a3", "And in red"),
      ),
    );
    const steps = imported.sessions[0]?.steps.map(({ text: words }) => words);
    expect(steps).toEqual(["Go", "", "In feet", "Feet.", "Noted.", "And in red"]);
    expect(notesOf(imported)).toEqual([note]);
    expect(droppedOf(imported)).toEqual({ "line not read: queue-operation": 6 });
  });

  it("are taken once when they wait again and again for a turn that does not begin", async () => {
    const wait = [queue("enqueue", "And in feet"), queue("dequeue")];
    const imported = await importText(
      jsonLines(...opening, ...wait, heard, ...wait, answer("a2", "r1", call("c2")), ...wait, user("r2", "a2", result("c2"))),
    );
    expect(usersOf(imported)).toEqual(["Go", "And in feet"]);
  });

  it("are not taken for a picture that waits ahead of them", async () => {
    const imported = await importText(
      jsonLines(
        user("u1", null, "Go"),
        answer("a1", "u1", text("Going.")),
        queue("enqueue"),
        queue("enqueue", "Just nothing"),
        queue("dequeue"),
        user("u2", "a1", [{ type: "image" }]),
        answer("a2", "u2", call("c1")),
        user("r1", "a2", result("c1")),
        queue("remove"),
        answer("a3", "r1", text("I see.")),
      ),
    );
    expect(usersOf(imported)).toEqual(["Go", "[image]", "Just nothing"]);
  });

  it("are taken once where the queue and another line both have them", async () => {
    const imported = await importText(
      jsonLines(
        ...opening,
        queue("enqueue", "In feet"),
        queue("enqueue", "/review the table"),
        heard,
        queue("remove", "In feet"),
        attached("q1", "r1", { prompt: "In feet" }),
        answer("a2", "q1", text("Feet.")),
        queue("dequeue"),
        user("u2", "a2", "<command-message>review</command-message>\n<command-name>/review</command-name>"),
        answer("a3", "u2", text("Reviewed.")),
      ),
    );
    expect(usersOf(imported)).toEqual(["Go", "In feet", "/review"]);
  });

  it("stand behind the response that the model was still writing", async () => {
    const part = (uuid: string, parentUuid: string, content: object): object => ({
      ...answer(uuid, parentUuid, content),
      message: { id: "msg_1", role: "assistant", model: "m-1", content: [content] },
    });
    const imported = await importText(
      jsonLines(
        user("u1", null, "Go"),
        part("a1", "u1", text("I look.")),
        attached("q1", "a1", { prompt: "In feet" }),
        queue("enqueue", '{"task_id":"t1","tool_use_id":"c1"}'),
        part("a2", "q1", call("c1")),
        queue("remove"),
        user("r1", "a2", result("c1")),
        answer("a3", "r1", text("Feet.")),
      ),
    );
    const steps = imported.sessions[0]?.steps.map(({ text: said, tool_calls = [] }) => [said, tool_calls.length]);
    expect(steps).toEqual([
      ["Go", 0],
      ["I look.", 1],
      ["In feet", 0],
      ["Feet.", 0],
    ]);
    expect(imported.sessions[0]?.steps[1]?.observations).toHaveLength(1);
  });

  it("leave a sub-agent's file one of a sub-agent", async () => {
    const side = (line: object): object => ({ ...line, isSidechain: true, agentId: "a1" });
    const lines = [...opening, heard].map(side);
    const imported = await importText(
      jsonLines(...lines, queue("enqueue", "In feet"), queue("remove"), side(answer("a2", "r1", text("Feet.")))),
    );
    expect([imported.file_id, usersOf(imported)]).toEqual(["sess-1-agent-a1", ["Go", "In feet"]]);
  });

  it("stand where they were typed in a log that never says what became of them", async () => {
    const imported = await importText(
      jsonLines(...opening, heard, queue("enqueue", "In feet"), answer("a2", "r1", text("Feet."))),
    );
    expect([usersOf(imported), answersOf(imported)]).toEqual([
      ["Go", "In feet"],
      ["", "Feet."],
    ]);
  });
});

import { describe, expect, it } from "vitest";
import { answersOf, countsOf, droppedOf, importText, jsonLines, usersOf } from "../support/import-text.js";

type Line = Record<string, unknown>;

const BASE = { isSidechain: false, sessionId: "sess-1", version: "2.1.0" };
const user = (uuid: string, parentUuid: string | null, content: unknown, more: Line = {}): Line => ({
  ...BASE,
  type: "user",
  uuid,
  parentUuid,
  message: { role: "user", content },
  ...more,
});
const answer = (uuid: string, parentUuid: string | null, id: string, content: Line[], more: Line = {}): Line => ({
  ...BASE,
  type: "assistant",
  uuid,
  parentUuid,
  message: { id, role: "assistant", model: "m-1", content },
  ...more,
});
const text = (value: string): Line => ({ type: "text", text: value });
const use = (id: string): Line => ({ type: "tool_use", id, name: "Bash", input: { command: `run ${id}` } });
const result = (id: string, content: unknown = `out ${id}`): Line[] => [{ type: "tool_result", tool_use_id: id, content }];

describe("claude-code", () => {
  it("keeps all results of parallel calls, whose lines fork the chain", async () => {
    const imported = await importText(
      jsonLines(
        user("u", null, "Go"),
        answer("a1", "u", "m1", [use("c1")]),
        answer("a2", "a1", "m1", [use("c2")]),
        user("r2", "a2", result("c2")),
        user("r1", "a1", result("c1")),
        answer("a3", "r1", "m2", [text("Both ran.")]),
      ),
    );
    expect(countsOf(imported)).toEqual([1, 2, 2, 2]);
    expect(imported.sessions[0]?.steps[1]?.observations?.map((one) => one.call_id)).toEqual(["c2", "c1"]);
  });

  it("merges one response whose lines have results between them", async () => {
    const imported = await importText(
      jsonLines(
        user("u", null, "Go"),
        answer("a1", "u", "m1", [text("First."), use("c1")]),
        user("r1", "a1", result("c1")),
        answer("a2", "r1", "m1", [use("c2")]),
        user("r2", "a2", result("c2")),
        answer("a3", "r2", "m2", [text("Done.")]),
      ),
    );
    expect(countsOf(imported)).toEqual([1, 2, 2, 2]);
  });

  it("follows the branch that reaches the last line after a rewind, through lines that are no messages", async () => {
    const other = (uuid: string, parentUuid: string): Line => ({ ...BASE, type: "progress", uuid, parentUuid });
    const imported = await importText(
      jsonLines(
        user("u1", null, "Start"),
        answer("a1", "u1", "m1", [text("Ready")]),
        other("p1", "a1"),
        other("p2", "p1"),
        user("u2", "p2", "Left behind"),
        answer("a2", "u2", "m2", [text("Never mind")]),
        user("u3", "p1", "Kept"),
        answer("a3", "u3", "m3", [text("Yes")]),
      ),
    );
    expect(usersOf(imported)).toEqual(["Start", "Kept"]);
    expect(answersOf(imported)).toEqual(["Ready", "Yes"]);
    expect(droppedOf(imported)).toEqual({ "abandoned branch": 2, "line not read: progress": 2 });
  });

  it("follows it too where local commands or an asked command stand ahead of what was taken back", async () => {
    const command = (uuid: string, parent: string, name: string): Line =>
      user(uuid, parent, `<command-name>${name}</command-name>`);
    const imported = await importText(
      jsonLines(
        user("u1", null, "Go"),
        answer("a1", "u1", "m1", [text("Gone.")]),
        user("k", "a1", "<local-command-caveat>Not for you.", { isMeta: true }),
        command("c1", "k", "/cost"),
        user("o", "c1", "<local-command-stdout>0.1</local-command-stdout>"),
        user("u2", "o", "Taken back"),
        answer("a2", "u2", "m2", [text("No.")]),
        command("c2", "a1", "/fix"),
        user("k2", "c2", "How to fix.", { isMeta: true }),
        answer("a3", "k2", "m3", [text("Fixed nothing.")]),
        user("u3", "a1", "In its place"),
        answer("a4", "u3", "m4", [text("Yes.")]),
      ),
    );
    expect([usersOf(imported), answersOf(imported)]).toEqual([
      ["Go", "In its place"],
      ["Gone.", "Yes."],
    ]);
    expect(droppedOf(imported)).toMatchObject({ "abandoned branch": 5, "local command": 2 });
  });

  it("keeps what was summed up where a later compaction goes on from a line ahead of it", async () => {
    const summary = { isCompactSummary: true };
    const imported = await importText(
      jsonLines(
        ...[user("u1", null, "One"), answer("a1", "u1", "m1", [text("1")])],
        ...[user("u2", "a1", "Two"), answer("a2", "u2", "m2", [text("2")]), user("s1", "a2", "2", summary)],
        ...[user("u3", "s1", "Three"), answer("a3", "u3", "m3", [text("3")]), user("s2", "a1", "3", summary)],
        ...[user("u4", "a1", "Four"), answer("a4", "u4", "m4", [text("4")]), user("u5", "a4", "Fiv")],
        ...[user("u6", "a4", "Five"), answer("a6", "u6", "m6", [text("5")])],
      ),
    );
    expect([usersOf(imported), droppedOf(imported)]).toEqual([
      ["One", "Two", "Three", "Four", "Five"],
      { "compaction summary": 2, "abandoned branch": 1 },
    ]);
  });

  it("keeps the turns before a compaction and leaves out its summary", async () => {
    const imported = await importText(
      jsonLines(
        user("u1", null, "Before"),
        answer("a1", "u1", "m1", [text("One")]),
        { ...BASE, type: "system", subtype: "compact_boundary", uuid: "b", parentUuid: null, logicalParentUuid: "a1" },
        user("s", "b", "This session is being continued from a previous conversation…", { isCompactSummary: true }),
        user("u2", "s", "After"),
        answer("a2", "u2", "m2", [text("Two")]),
      ),
    );
    expect(usersOf(imported)).toEqual(["Before", "After"]);
    expect(droppedOf(imported)).toEqual({ "compaction summary": 1 });
  });

  it("leaves out sub-agent lines in a main log, and reads a sub-agent's own file as a session", async () => {
    const side = { isSidechain: true, agentId: "ab12" };
    const agentLines = [user("s1", null, "Explore", side), answer("s2", "s1", "m9", [text("Explored")], side)];
    const main = await importText(jsonLines(user("u", null, "Go"), ...agentLines, answer("a", "u", "m1", [text("Ok")])));
    expect(countsOf(main)).toEqual([1, 1, 0, 0]);
    expect(droppedOf(main)).toEqual({ "sub-agent lines": 2 });
    const own = await importText(jsonLines(...agentLines));
    expect(own.file_id).toBe("sess-1-agent-ab12");
    expect(answersOf(own)).toEqual(["Explored"]);
  });

  it("strips what the harness says in the person's place", async () => {
    const imported = await importText(
      jsonLines(
        user("x0", null, "Caveat: The messages below were generated by the user while running local commands. DO NOT respond.", {
          isMeta: true,
        }),
        user("x1", "x0", "<command-name>/clear</command-name>\n<command-args></command-args>"),
        user("x2", "x1", "<local-command-stdout></local-command-stdout>"),
        user("x3", "x2", "<bash-input>ls</bash-input>"),
        user("u", "x3", [
          text("<ide_opened_file>a.ts</ide_opened_file>"),
          text("Fix it <system-reminder>be nice</system-reminder>"),
        ]),
        answer("a1", "u", "m1", [use("c1")]),
        user("r1", "a1", result("c1", "42 lines\n\n<system-reminder>Not malware.</system-reminder>")),
        answer("a2", "r1", "m2", [text("Fixed")]),
        user("i", "a2", [text("[Request interrupted by user]")]),
        user("t", "i", "<system-reminder>Only this.</system-reminder>"),
      ),
    );
    expect(usersOf(imported)).toEqual(["$ ls\n\nFix it"]);
    expect(imported.sessions[0]?.steps[1]?.observations?.[0]?.content).toBe("42 lines");
    expect(droppedOf(imported)).toEqual({ "harness text": 5, "local command": 2 });
  });

  it("keeps a command that the model answers as the request", async () => {
    const imported = await importText(
      jsonLines(
        user(
          "u",
          null,
          "<command-message>init</command-message>\n<command-name>/init</command-name>\n<command-args>docs only</command-args>",
        ),
        user("m", "u", [text("Please analyze this codebase…")], { isMeta: true }),
        answer("a", "m", "m1", [text("On it")]),
      ),
    );
    expect(usersOf(imported)).toEqual(["/init docs only"]);
  });

  it("keeps a command that was interrupted before the model answered it, and none that is no request", async () => {
    const at = (minute: number, more: Line = {}): Line => ({ timestamp: `2026-01-05T10:0${minute}:00.000Z`, ...more });
    const command = (name: string): string => `<command-message>${name}</command-message>\n<command-name>/${name}</command-name>`;
    const caveat = text("Caveat: The messages below were generated by the user while running local commands.");
    const imported = await importText(
      jsonLines(
        user("u1", null, command("todo"), at(0)),
        user("m1", "u1", [text("Note an idea.")], at(0, { isMeta: true })),
        user("i1", "m1", [text("[Request interrupted by user]")], at(1)),
        user("u2", "i1", command("exit"), at(2)),
        user("m2", "u2", [caveat], at(3, { isMeta: true })),
        user("u3", "m2", "Go", at(4)),
        answer("a", "u3", "m1", [text("Going")], at(5)),
      ),
    );
    expect(usersOf(imported)).toEqual(["/todo", "Go"]);
    expect(droppedOf(imported)).toEqual({ "harness text": 3, "local command": 1 });
  });

  it("takes a good line that repeats the id of a broken one, and drops replayed lines", async () => {
    const good = user("u", null, "Hello");
    const imported = await importText(
      jsonLines(
        { ...good, message: "error" },
        good,
        answer("a", "u", "m1", [text("Hi")]),
        good,
        answer("a", "u", "m1", [text("Hi")]),
      ),
    );
    expect(countsOf(imported)).toEqual([1, 1, 0, 0]);
    expect(imported.bad_lines).toBe(1);
    expect(droppedOf(imported)).toEqual({ "repeated line": 2 });
  });

  it("reads a log without parents in the order of the file, and one whose parents form a ring", async () => {
    const loose = await importText(jsonLines(user("u", null, "A"), answer("a", null, "m1", [text("B")]), user("v", null, "C")));
    expect(loose.sessions[0]?.steps.map((step) => step.text)).toEqual(["A", "B", "C"]);
    const ring = await importText(jsonLines(user("u", "a", "A"), answer("a", "u", "m1", [text("B")])));
    expect(countsOf(ring)).toEqual([1, 1, 0, 0]);
  });

  it("leaves out synthetic errors and keeps thinking apart", async () => {
    const imported = await importText(
      jsonLines(user("u", null, "Go"), answer("a", "u", "m1", [{ type: "thinking", thinking: "Hm." }, text("Ok")]), {
        ...answer("e", "a", "m2", [text("API Error: 500")]),
        isApiErrorMessage: true,
      }),
    );
    expect(imported.sessions[0]?.steps.at(-1)).toMatchObject({ text: "Ok", reasoning: "Hm." });
    expect(droppedOf(imported)).toEqual({ "synthetic message": 1 });
  });

  it("keeps a result whose call is not in the file", async () => {
    const imported = await importText(
      jsonLines(user("r", null, result("lost")), user("u", "r", "Go on"), answer("a", "u", "m1", [text("Ok")])),
    );
    expect(countsOf(imported)).toEqual([1, 1, 0, 1]);
    expect(imported.sessions[0]?.steps[0]).toMatchObject({ source: "agent", context_only: "synthetic" });
  });
});

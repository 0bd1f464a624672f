import { describe, expect, it } from "vitest";
import { answersOf, countsOf, droppedOf, importText, jsonLines, usersOf } from "../support/import-text.js";

const asked = (task: string): unknown => ({ id: 0, source: "user", action: "message", args: { content: task } });
const ran = (id: number, command: string): unknown => ({
  id,
  source: "agent",
  action: "run",
  args: { command, thought: command },
});
const printed = (id: number, cause: number): unknown => ({
  id,
  source: "agent",
  observation: "run",
  cause,
  content: `out ${cause}`,
});
const events = (task: string): unknown[] => [asked(task), ran(1, `ls ${task}`), printed(2, 1)];

describe("benchmark outputs of OpenHands V0", () => {
  it("makes a session of each run, named by its instance, with the verdict that the record holds", async () => {
    const imported = await importText(
      jsonLines(
        { instance_id: "org__lib-1", history: events("a"), test_result: { git_patch: "", report: { resolved: true } } },
        { instance_id: "org__lib-2", history: events("b"), report: { resolved: false } },
        { instance_id: "org__lib-3", history: events("c"), error: "Agent stuck in loop" },
        { instance_id: "org__lib-3", history: events("d"), test_result: { git_patch: "x" }, error: null },
      ),
    );
    expect(countsOf(imported)).toEqual([4, 4, 4, 4]);
    expect(droppedOf(imported)).toEqual({});
    expect(usersOf(imported)).toEqual(["a", "b", "c", "d"]);
    const base = imported.file_id;
    expect(imported.sessions.map((one) => [one.session_id, one.outcome, one.outcome_signal])).toEqual([
      [`${base}-org__lib-1`, "success", "resolved: true"],
      [`${base}-org__lib-2`, "failure", "resolved: false"],
      [`${base}-org__lib-3`, "failure", "error"],
      [`${base}-4`, "unknown", null],
    ]);
  });

  it("names the only run of a file by its instance too, and gives strange names no place in an id", async () => {
    const one = await importText(jsonLines({ instance_id: "org__lib-1", history: events("a") }));
    expect(one.sessions[0]?.session_id).toMatch(/^openhands-v0-[0-9a-f]{16}-org__lib-1$/);
    expect(one.file_id).toBe(one.sessions[0]?.session_id);
    const strange = await importText(
      jsonLines({ instance_id: "../x", history: events("a") }, { instance_id: 7, history: events("b") }),
    );
    expect(strange.sessions.map((session) => session.session_id)).toEqual([`${strange.file_id}-1`, `${strange.file_id}-2`]);
  });

  it("reads histories of pairs: a result answers the action beside it", async () => {
    const nothing = { id: -1, source: "environment", observation: "null", content: "", cause: null };
    const pairs = [
      [{ ...(asked("Go") as object), id: -1 }, nothing],
      [{ ...(ran(-1, "ls") as object) }, { id: -1, source: "agent", observation: "run", content: "one" }],
      [{ ...(ran(-1, "pwd") as object) }, { id: -1, source: "agent", observation: "run", content: "two" }],
    ];
    const imported = await importText(jsonLines({ instance_id: "p-1", history: pairs }, { instance_id: "p-2", history: pairs }));
    expect(countsOf(imported)).toEqual([2, 4, 4, 4]);
    expect(imported.sessions[1]?.steps.flatMap((step) => step.observations ?? []).map((one) => one.content)).toEqual([
      "one",
      "two",
    ]);
  });

  it("reads lines that are trajectories, as documents or as lists of events", async () => {
    const documents = await importText(jsonLines({ trajectory: events("a") }, { trajectory: events("b") }));
    const lists = await importText(jsonLines(events("a"), events("b")));
    for (const imported of [documents, lists]) {
      expect(imported.session_count).toBe(2);
      expect(usersOf(imported)).toEqual(["a", "b"]);
      expect([imported.bad_lines, droppedOf(imported)]).toEqual([0, {}]);
    }
  });
});

describe("benchmark outputs of OpenHands V1", () => {
  const text = (value: string): unknown => [{ type: "text", text: value }];
  const history = [
    {
      id: "a",
      kind: "ActionEvent",
      source: "agent",
      thought: text("Look."),
      tool_name: "terminal",
      tool_call_id: "c1",
      tool_call: { id: "c1", name: "terminal", arguments: "{}" },
      llm_response_id: "r1",
    },
    { id: "o", kind: "ObservationEvent", source: "environment", tool_call_id: "c1", observation: { content: text("done") } },
  ];

  it("makes a session of each run, with the instruction as its request where the events hold none", async () => {
    const imported = await importText(
      jsonLines(
        { instance_id: "v-1", attempt: 1, instruction: "Fix it.", history, metadata: { llm: { model: "m-1" } }, error: null },
        { instance_id: "v-2", attempt: 1, instruction: "Mend it.", history, error: "timeout" },
      ),
    );
    expect(imported.format).toBe("openhands-v1");
    expect(countsOf(imported)).toEqual([2, 2, 2, 2]);
    expect(usersOf(imported)).toEqual(["Fix it.", "Mend it."]);
    expect(answersOf(imported)).toEqual(["Look.", "Look."]);
    expect(imported.sessions.map((one) => [one.outcome, one.source.model])).toEqual([
      ["unknown", "m-1"],
      ["failure", null],
    ]);
    expect(imported.sessions[0]?.session_id.endsWith("-v-1")).toBe(true);
  });
});

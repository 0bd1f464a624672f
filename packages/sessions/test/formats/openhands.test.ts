import { importSessions } from "@imprint/sessions";
import { describe, expect, it } from "vitest";
import { countsOf, droppedOf, importText, jsonLines } from "../support/import-text.js";

const bytes = (value: unknown): Uint8Array => new TextEncoder().encode(JSON.stringify(value));

describe("openhands-v0", () => {
  const user = { id: 0, source: "user", action: "message", args: { content: "Go" } };
  const answer = (id: number, callId: string): unknown => ({
    id,
    source: "agent",
    action: "run",
    args: { command: callId, thought: "t", blocking: false },
    tool_call_metadata: {
      tool_call_id: callId,
      function_name: "execute_bash",
      model_response: {
        id: "resp",
        model: "m-1",
        choices: [
          {
            message: {
              content: "Both.",
              tool_calls: [{ id: callId, function: { name: "execute_bash", arguments: `{"command":"${callId}"}` } }],
            },
          },
        ],
      },
    },
  });

  it("merges the calls of one response, and pairs results by cause", async () => {
    const result = (id: number, cause: number, exit: number): unknown => ({
      id,
      source: "agent",
      observation: "run",
      cause,
      content: `out ${cause}`,
      extras: { metadata: { exit_code: exit } },
    });
    const events = [
      user,
      answer(1, "c1"),
      answer(2, "c2"),
      result(3, 1, 0),
      result(4, 2, 1),
      { id: 5, source: "agent", action: "finish", args: { thought: "Done." } },
    ];
    const imported = await importText(JSON.stringify({ trajectory: events }));
    expect(countsOf(imported)).toEqual([1, 2, 3, 2]);
    expect(imported.sessions[0]?.steps[1]?.observations).toEqual([
      { call_id: "c1", content: "out 1" },
      { call_id: "c2", content: "out 2", is_error: true },
    ]);
    expect(imported.sessions[0]?.outcome_signal).toBe("finish");
    expect(imported.sessions[0]?.outcome).toBe("unknown");
  });

  it("makes calls of actions whose answer is not kept, and drops control events", async () => {
    const run = { id: 1, source: "agent", action: "run", args: { command: "ls", thought: "Look." } };
    const state = [
      { id: 2, source: "environment", observation: "agent_state_changed", content: "" },
      { id: 3, source: "agent", action: "change_agent_state", args: {} },
    ];
    const imported = await importText(JSON.stringify([user, run, ...state]));
    expect(imported.sessions[0]?.steps[1]).toMatchObject({
      text: "Look.",
      tool_calls: [{ id: "event-1", name: "run", arguments: '{"command":"ls"}' }],
    });
    expect(droppedOf(imported)).toEqual({ "environment note": 1, "line not read: action change_agent_state": 1 });
  });

  it("reads a folder of one file per event in the order of their numbers", async () => {
    const events = Array.from({ length: 12 }, (_, id) =>
      id === 0 ? user : { id, source: "agent", action: "message", args: { content: `say ${id}` } },
    );
    const files = events.map((event, id) => ({ name: `s/events/${id}.json`, bytes: bytes(event) })).reverse();
    const { sessions } = await importSessions(files);
    expect(sessions[0]?.steps.map((step) => step.text)).toEqual([
      "Go",
      ...Array.from({ length: 11 }, (_, index) => `say ${index + 1}`),
    ]);
  });
});

describe("openhands-v1", () => {
  const text = (value: string): unknown => [{ type: "text", text: value }];
  const event = (id: string, kind: string, source: string, rest: object): unknown => ({
    id,
    kind,
    source,
    timestamp: "2026-01-05T10:00:00.5",
    ...rest,
  });
  const action = (id: string, callId: string, name = "terminal"): unknown =>
    event(id, "ActionEvent", "agent", {
      thought: text(id === "a1" ? "Both." : ""),
      tool_name: name,
      tool_call_id: callId,
      tool_call: { id: callId, name, arguments: "{}" },
      llm_response_id: "r1",
    });

  it("merges parallel calls by response, and keeps rejections, errors and orphan results", async () => {
    const imported = await importText(
      jsonLines(
        event("o0", "ObservationEvent", "environment", { tool_call_id: "lost", observation: { content: text("late") } }),
        action("a1", "c1"),
        action("a2", "c2"),
        event("o1", "AgentErrorEvent", "agent", { tool_call_id: "c1", error: "boom" }),
        event("o2", "UserRejectObservation", "environment", { tool_call_id: "c2", rejection_reason: "no" }),
        event("x", "ConversationStateUpdateEvent", "environment", { key: "stats", value: {} }),
        event("c", "CondensationSummaryEvent", "environment", { summary: "…" }),
      ),
    );
    expect(countsOf(imported)).toEqual([0, 1, 2, 3]);
    expect(imported.sessions[0]?.steps[1]?.observations).toEqual([
      { call_id: "c1", content: "boom", is_error: true },
      { call_id: "c2", content: "no", is_error: true },
    ]);
    expect(droppedOf(imported)).toEqual({ "compaction summary": 1, "line not read: ConversationStateUpdateEvent": 1 });
  });

  it("reads a conversation's folder: id and model from its state, tools from prompt and update", async () => {
    const tool = (name: string): unknown => ({
      type: "function",
      function: { name, description: name, parameters: { type: "object" } },
    });
    const { sessions } = await importSessions([
      {
        name: "c/base_state.json",
        bytes: bytes({ id: "conv-1", agent: { llm: { model: "m-1" } }, workspace: {}, max_iterations: 5 }),
      },
      {
        name: "c/events/event-00000-a.json",
        bytes: bytes(event("p", "SystemPromptEvent", "agent", { system_prompt: { text: "You help." }, tools: [tool("one")] })),
      },
      {
        name: "c/events/event-00001-b.json",
        bytes: bytes(event("u", "MessageEvent", "user", { llm_message: { role: "user", content: text("Go") } })),
      },
      {
        name: "c/events/event-00002-c.json",
        bytes: bytes(
          event("s", "SystemPromptUpdateEvent", "agent", { system_prompt: { text: "You help more." }, tools: [tool("two")] }),
        ),
      },
      { name: "c/events/event-00003-d.json", bytes: bytes(action("f", "c9", "finish")) },
    ]);
    expect(sessions).toHaveLength(1);
    expect(sessions[0]).toMatchObject({
      session_id: "conv-1",
      outcome_signal: "finish",
      source: { model: "m-1" },
      started_at: "2026-01-05T10:00:00.500Z",
    });
    expect(sessions[0]?.tools.map((one) => one.name)).toEqual(["one", "two"]);
    expect(sessions[0]?.steps.map((step) => step.source)).toEqual(["system", "user", "agent"]);
  });
});

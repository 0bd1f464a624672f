import { expect, it } from "vitest";
import { answersOf, countsOf, droppedOf, importText, jsonLines, usersOf } from "../support/import-text.js";

const start = [{ type: "thread.started", thread_id: "019f9000-0000-7000-8000-00000000000a" }, { type: "turn.started" }];
const item = (event: string, id: number, more: object): object => ({
  type: `item.${event}`,
  item: { id: `item_${id}`, ...more },
});
const done = (id: number, more: object): object => item("completed", id, { status: "completed", ...more });
const says = (id: number, text: string): object => done(id, { type: "agent_message", text });
const read = (...events: readonly object[]): ReturnType<typeof importText> => importText(jsonLines(...start, ...events));

it("reads what a run printed, says that the request is not in it, and where it is", async () => {
  const run = { type: "command_execution", command: "bash -lc 'cat table.py'" };
  const imported = await read(
    done(0, { type: "reasoning", text: "**Looking**" }),
    item("started", 1, { ...run, aggregated_output: "", exit_code: null, status: "in_progress" }),
    done(1, { ...run, aggregated_output: "START = 6\n", exit_code: 0 }),
    done(2, { type: "file_change", changes: [{ path: "table.py", kind: "update" }] }),
    says(3, "The table starts at midnight."),
    { type: "turn.completed", usage: {} },
  );
  expect(usersOf(imported)).toEqual(["[request not recorded]"]);
  expect(imported.warnings).toEqual([expect.stringMatching(/does not hold what was asked for: .*-00000000000a\.jsonl/)]);
  expect(countsOf(imported)).toEqual([1, 2, 1, 1]);
  expect(imported.sessions).toMatchObject([
    {
      session_id: "019f9000-0000-7000-8000-00000000000a",
      outcome_signal: "turn.completed",
      steps: [
        {},
        {
          reasoning: "**Looking**",
          tool_calls: [{ name: "command_execution", arguments: JSON.stringify({ command: run.command }) }],
          observations: [{ content: "START = 6\n" }, { call_id: null, content: "[file change: update table.py]" }],
        },
        { text: "The table starts at midnight." },
      ],
    },
  ]);
  expect(droppedOf(imported)).toEqual({ "call not recorded in full": 1 });
});

it("tells failed calls, those of MCP servers, and a run that failed; what is no call is counted by its kind", async () => {
  const search = { type: "mcp_tool_call", server: "docs", tool: "search", arguments: { q: "tides" } };
  const imported = await read(
    says(0, "I search."),
    done(1, { ...search, result: { content: [{ type: "text", text: "3 pages" }], structured_content: null } }),
    done(2, { ...search, status: "failed", error: { message: "no route" } }),
    done(3, { type: "command_execution", command: "make", aggregated_output: "No rule", exit_code: 2, status: "failed" }),
    done(4, { type: "web_search", query: "tides" }),
    done(5, { type: "todo_list", items: [{ text: "Look", completed: true }] }),
    item("updated", 5, { type: "todo_list", items: [] }),
    { type: "request_user_input", questions: [] },
    done(6, { type: "error", message: "stream lost" }),
    { type: "turn.failed", error: { message: "x" } },
  );
  const [, ...answers] = imported.sessions[0]?.steps ?? [];
  expect(answers).toMatchObject([
    { text: "I search.", tool_calls: [{ name: "mcp__docs__search" }], observations: [{ content: "3 pages" }] },
    { observations: [{ content: "no route", is_error: true }] },
    { observations: [{ content: "No rule", is_error: true }] },
  ]);
  expect(imported.sessions[0]?.outcome_signal).toBe("turn.failed");
  expect(droppedOf(imported)).toEqual({ "call run by the provider": 1, "environment note": 3 });
});

it("keeps apart what two turns name alike", async () => {
  const imported = await read(says(0, "One."), ...start, says(0, "Two."));
  expect(answersOf(imported)).toEqual(["One.", "Two."]);
});

it("reads what the first versions printed", async () => {
  const imported = await importText(
    jsonLines(
      { type: "session.created", session_id: "s-1" },
      { type: "turn.started" },
      { type: "item.completed", item: { id: "item_0", item_type: "assistant_message", text: "Hi." } },
    ),
  );
  expect(imported.sessions).toMatchObject([{ session_id: "s-1" }]);
  expect(answersOf(imported)).toEqual(["Hi."]);
});

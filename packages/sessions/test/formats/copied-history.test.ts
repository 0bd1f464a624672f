import { describe, expect, it } from "vitest";
import { summarize } from "../../src/summarize.js";
import { answersOf, countsOf, droppedOf, importCase, importText, jsonLines, usersOf } from "../support/import-text.js";

const PARENT = "019f9000-0000-7000-8000-00000000000a";
const CHILD = "019f9001-0000-7000-8000-00000000000b";
const OWN_TURN = "019f9001-0001-7000-8000-000000000001";
const OLD_TURN = "019f9000-0001-7000-8000-000000000001";
const at = (second: number): string => new Date(Date.UTC(2026, 8, 14, 9, 10, 0, second * 1000)).toISOString();
const line = (second: number, type: string, payload: object): object => ({ timestamp: at(second), type, payload });
const meta = (id: string, rest: object = {}): object => line(0, "session_meta", { id, timestamp: at(0), ...rest });
const said = (second: number, role: string, text: string): object =>
  line(second, "response_item", {
    type: "message",
    role,
    content: [{ type: role === "user" ? "input_text" : "output_text", text }],
  });
const began = (second: number, turn_id: string, rest: object = {}): object =>
  line(second, "event_msg", { type: "task_started", turn_id, ...rest });
const context = (second: number, turn_id?: string): object => line(second, "turn_context", { model: "m-1", turn_id });
const numbered = (first: number, ...lines: object[]): object[] => lines.map((one, n) => ({ ordinal: first + n, ...one }));
const tasks = (imported: Awaited<ReturnType<typeof importText>>): string[] =>
  imported.sessions.map((session) => summarize(session).task);

describe("a forked Codex session", () => {
  it("has its own task and counts, and its parent's history as context", async () => {
    const imported = await importCase("codex-fork.jsonl");
    expect([imported.file_id, tasks(imported), countsOf(imported)]).toEqual([
      CHILD,
      ["Now drop the duplicate readings."],
      [1, 2, 1, 1],
    ]);
    expect(imported.sessions.map((session) => summarize(session).parent)).toEqual([{ session_id: PARENT, kinship: "fork" }]);
    expect(imported.sessions[0]?.steps.map((step) => step.context_only)).toEqual([
      ...["copied", "copied", "copied"],
      ...[undefined, undefined, undefined],
    ]);
    expect(droppedOf(imported)).toMatchObject({ "copied context": 3 });
    expect(imported.sessions.map((session) => summarize(session).trainable_turns)).toEqual([2]);
  });

  it("begins with its first request where only the context of a turn names the turn", async () => {
    const imported = await importText(
      jsonLines(
        meta(CHILD, { forked_from_id: PARENT }),
        meta(PARENT),
        said(0, "user", "Sort them."),
        context(0, OLD_TURN),
        said(0, "assistant", "Sorted."),
        said(0, "user", "Drop doubles."),
        context(0, OWN_TURN),
        said(0, "assistant", "Dropped."),
      ),
    );
    expect([tasks(imported), countsOf(imported)]).toEqual([["Drop doubles."], [1, 1, 0, 0]]);
  });

  it("begins after the burst of copied lines where turns have no ids that tell their time", async () => {
    for (const turn of [undefined, "c0ffee00-0000-4000-8000-000000000000"]) {
      const imported = await importText(
        jsonLines(
          meta(CHILD, { forked_from_id: PARENT }),
          said(0.01, "user", "Sort them."),
          context(0.01, turn),
          said(0.02, "assistant", "Sorted."),
          said(40, "user", "Drop doubles."),
          context(40, turn),
          said(41, "assistant", "Dropped."),
        ),
      );
      expect([tasks(imported), countsOf(imported)]).toEqual([["Drop doubles."], [1, 1, 0, 0]]);
    }
  });

  it("takes over no request that its parent had not answered, and loses none that stands before its first turn", async () => {
    const copied = [
      meta(CHILD, { forked_from_id: PARENT }),
      began(0, OLD_TURN),
      said(0, "user", "Sort."),
      said(0, "assistant", "1"),
    ];
    const open = [...copied, began(0, OLD_TURN), said(0, "user", "Also print."), began(1, OWN_TURN)];
    const own = await importText(jsonLines(...open, said(1, "user", "Drop doubles."), said(2, "assistant", "2")));
    expect([tasks(own), countsOf(own), droppedOf(own)["copied context"]]).toEqual([["Drop doubles."], [1, 1, 0, 0], 3]);
    const early = await importText(
      jsonLines(...copied, said(1, "user", "Find gaps."), began(1, OWN_TURN), said(2, "assistant", "2")),
    );
    expect([tasks(early), countsOf(early)]).toEqual([["Find gaps."], [1, 1, 0, 0]]);
  });

  const based = (thread_id: string): object => ({
    history_mode: "paginated",
    history_base: { thread_id, end_ordinal_exclusive: 9, end_byte_offset: 4000 },
  });

  it("has all that its file holds where it refers to its parent's lines", async () => {
    const imported = await importText(
      jsonLines(
        meta(CHILD, { forked_from_id: PARENT, ...based(PARENT) }),
        ...numbered(
          10,
          said(0, "user", "Drop doubles."),
          context(0),
          said(1, "assistant", "Dropped."),
          said(2, "user", "Thanks."),
        ),
      ),
    );
    expect([imported.file_id, tasks(imported), countsOf(imported)]).toEqual([CHILD, ["Drop doubles."], [2, 1, 0, 0]]);
    expect(imported.sessions[0]?.parent).toEqual({ session_id: PARENT, kinship: "fork" });
  });

  it("is another session where a thread that was taken back goes on under the same id", async () => {
    const taken = [
      meta(PARENT, { forked_from_id: "", ...based(PARENT) }),
      ...numbered(10, said(1, "user", "Drop doubles."), said(2, "assistant", "Dropped.")),
    ];
    const imported = await importText(jsonLines(...taken));
    expect([imported.file_id, countsOf(imported)]).toEqual([`${PARENT}_2026-09-14T09-10-00.000Z`, [1, 1, 0, 0]]);
    expect(imported.sessions[0]?.parent).toEqual({ session_id: PARENT, kinship: "fork" });
  });

  it("is all its parent's as long as it has said nothing itself", async () => {
    const imported = await importText(
      jsonLines(
        meta(CHILD, { forked_from_id: PARENT }),
        began(0, OLD_TURN),
        said(0, "user", "Sort."),
        said(0, "assistant", "Sorted."),
      ),
    );
    expect([tasks(imported), countsOf(imported)]).toEqual([[""], [0, 0, 0, 0]]);
  });
});

describe("a helper's Codex session", () => {
  const spawned = { source: { subagent: { thread_spawn: { parent_thread_id: PARENT, depth: 1 } } } };

  it("names its caller, and has the task that it was given, also behind a copied history", async () => {
    const copied = [meta(PARENT), began(0, OLD_TURN), said(0, "user", "Sort them."), said(0, "assistant", "I ask a helper.")];
    const own = [
      began(3, OWN_TURN),
      line(3, "response_item", { type: "agent_message", author: "root", content: [{ type: "input_text", text: "Find gaps." }] }),
      context(3, OWN_TURN),
      said(4, "assistant", "None."),
    ];
    for (const lines of [
      [meta(CHILD, spawned), ...own],
      [meta(CHILD, { ...spawned, forked_from_id: PARENT }), ...copied, ...own],
      [meta(CHILD, spawned), ...copied, ...own],
      [
        meta(CHILD, spawned),
        said(3, "assistant", JSON.stringify({ author: "main", recipient: "main/a", content: "Find gaps.", trigger_turn: true })),
        said(4, "assistant", "None."),
      ],
    ]) {
      const imported = await importText(jsonLines(...lines));
      expect([tasks(imported), countsOf(imported)]).toEqual([["Find gaps."], [1, 1, 0, 0]]);
      expect(imported.sessions[0]?.parent).toEqual({ session_id: PARENT, kinship: "sub-agent" });
    }
  });

  it("begins at the line that it names, where lines are numbered", async () => {
    const copied = [said(0, "user", "Sort."), said(0, "assistant", "Sorted."), said(0, "user", "Ask a helper.")];
    const own = [context(0), said(0, "user", "Find gaps."), said(0, "assistant", "None.")];
    for (const rest of [{}, { forked_from_id: PARENT }])
      for (const parents of [[], [meta(PARENT)]]) {
        const before = [...parents, ...copied];
        const head = meta(CHILD, { ...spawned, ...rest, subagent_history_start_ordinal: before.length + 1 });
        const imported = await importText(jsonLines(...numbered(0, head, ...before, ...own)));
        expect([tasks(imported), countsOf(imported)]).toEqual([["Find gaps."], [1, 1, 0, 0]]);
        expect(droppedOf(imported)["copied context"]).toBe(3);
      }
  });
});

describe("a history that was written again", () => {
  const call = (id: string): object =>
    line(2, "response_item", { type: "function_call", name: "shell", arguments: "{}", call_id: id });
  const output = (id: string): object => line(3, "response_item", { type: "function_call_output", call_id: id, output: "ok" });
  const history = [said(1, "user", "Sort."), call("c1"), output("c1"), said(4, "assistant", "Sorted.")];

  it("is there once, however often a session was taken up again", async () => {
    const second = [said(5, "user", "Go on."), said(6, "assistant", "Gone on.")];
    const imported = await importText(
      jsonLines(
        meta(CHILD),
        ...history,
        meta(CHILD),
        ...history,
        ...second,
        meta(CHILD),
        ...history,
        ...second,
        said(9, "user", "Stop."),
      ),
    );
    expect([usersOf(imported), answersOf(imported)]).toEqual([
      ["Sort.", "Go on.", "Stop."],
      ["", "Sorted.", "Gone on."],
    ]);
    expect(droppedOf(imported)).toMatchObject({ "copied context": 8 });
  });

  it("is no history when a person says the same again", async () => {
    const again = [said(8, "user", "Sort."), call("c2"), output("c2"), said(9, "assistant", "Sorted.")];
    expect(countsOf(await importText(jsonLines(meta(CHILD), ...history, ...again)))).toEqual([2, 4, 2, 2]);
    const short = [said(1, "user", "Go on."), said(2, "assistant", "Done.")];
    const later = [said(7, "user", "Go on."), said(8, "assistant", "Done.")];
    expect(countsOf(await importText(jsonLines(meta(CHILD), ...short, ...later)))).toEqual([2, 2, 0, 0]);
  });
});

describe("other forks and helpers", () => {
  it("leaves the results of Copilot's helpers to them, marked or not", async () => {
    const imported = await importCase("copilot-helper.jsonl");
    expect([countsOf(imported), usersOf(imported)]).toEqual([[1, 2, 1, 1], ["Start the table at midnight."]]);
    let events = 0;
    const event = (type: string, data: object): object => ({ type, data, id: `e${events++}`, parentId: null });
    const done = (toolCallId: string, content: string): object =>
      event("tool.execution_complete", { toolCallId, success: true, result: { content } });
    const unmarked = await importText(
      jsonLines(
        event("session.start", { sessionId: "s", producer: "copilot-agent" }),
        event("user.message", { content: "Go" }),
        event("assistant.message", {
          messageId: "a1",
          content: "",
          toolRequests: [
            { toolCallId: "t1", name: "task", arguments: {} },
            { toolCallId: "b1", name: "bash", arguments: {} },
          ],
        }),
        event("tool.execution_start", { toolCallId: "t1", toolName: "task", arguments: {} }),
        event("subagent.started", { toolCallId: "t1" }),
        event("assistant.message", { messageId: "h1", content: "I look.", toolRequests: [{ toolCallId: "g1", name: "grep" }] }),
        event("tool.execution_start", { toolCallId: "g1", toolName: "grep", arguments: {} }),
        event("tool.execution_start", { toolCallId: "b1", toolName: "bash", arguments: {} }),
        done("b1", "ok"),
        done("t1", "Found."),
        done("g1", "late"),
        event("assistant.message", { messageId: "a2", content: "Done.", toolRequests: [] }),
      ),
    );
    expect([countsOf(unmarked), answersOf(unmarked)]).toEqual([
      [1, 2, 2, 2],
      ["", "Done."],
    ]);
    expect(droppedOf(unmarked)).toMatchObject({ "sub-agent lines": 3 });
  });

  it("keeps what a fork of Claude Code or pi took over as context, and names the parent", async () => {
    const claude = (uuid: string, type: string, content: string, rest: object = {}): object => ({
      ...{ type, uuid, parentUuid: null, sessionId: "s-2", isSidechain: false, ...rest },
      message: { role: type, content: [{ type: "text", text: content }], ...(type === "assistant" && { id: uuid }) },
    });
    const taken = { forkedFrom: { sessionId: "s-1", messageUuid: "m" } };
    const branch = await importText(
      jsonLines(
        claude("a", "user", "One", taken),
        claude("b", "assistant", "1", taken),
        claude("c", "user", "Two"),
        claude("d", "assistant", "2"),
      ),
    );
    expect([tasks(branch), countsOf(branch)]).toEqual([["Two"], [1, 1, 0, 0]]);
    expect(branch.sessions[0]?.parent).toEqual({ session_id: "s-1", kinship: "fork" });
    // Of a fork that is made as it is resumed, newer builds name the session of each answer, and older ones only its own beginning.
    const answered = await importText(
      jsonLines(
        claude("a", "user", "One"),
        claude("b", "assistant", "1", { requestSessionId: "s-1" }),
        claude("c", "user", "Two"),
        claude("d", "assistant", "2"),
      ),
    );
    expect([tasks(answered), answered.sessions[0]?.parent]).toEqual([["Two"], { session_id: "s-1", kinship: "fork" }]);
    const queued = await importText(
      jsonLines(
        { type: "queue-operation", operation: "enqueue", sessionId: "s-2", timestamp: at(5), content: "Two" },
        { type: "queue-operation", operation: "dequeue", sessionId: "s-2", timestamp: at(5) },
        claude("a", "user", "One", { timestamp: at(1) }),
        claude("b", "assistant", "1", { timestamp: at(2) }),
        claude("c", "user", "Two", { timestamp: at(6) }),
        claude("d", "assistant", "2", { timestamp: at(7) }),
      ),
    );
    expect([tasks(queued), countsOf(queued)]).toEqual([["Two"], [1, 1, 0, 0]]);
    const entry = (id: string, parentId: string | null, second: number, role: string, content: string): object => ({
      ...{ type: "message", id, parentId, timestamp: at(second) },
      message: { role, content, ...(role === "assistant" && { stopReason: "stop" }) },
    });
    const pi = await importText(
      jsonLines(
        { type: "session", version: 3, id: "p-2", timestamp: at(5), parentSession: `/s/2026_${PARENT}.jsonl` },
        entry("a", null, 1, "user", "One"),
        entry("b", "a", 2, "assistant", "1"),
        entry("c", "b", 6, "user", "Two"),
        entry("d", "c", 7, "assistant", "2"),
      ),
    );
    expect([tasks(pi), countsOf(pi)]).toEqual([["Two"], [1, 1, 0, 0]]);
    expect(pi.sessions[0]?.parent).toEqual({ session_id: PARENT, kinship: "fork" });
  });

  it("names the caller of opencode's helpers, and keeps a fork's older messages as context", async () => {
    const session = (rest: object): string =>
      JSON.stringify({
        info: { id: "ses_2", projectID: "p", time: { created: 50 }, ...rest },
        messages: [
          { info: { id: "m1", sessionID: "ses_2", role: "user", time: { created: 10 } }, parts: [{ type: "text", text: "One" }] },
          { info: { id: "m2", sessionID: "ses_2", role: "user", time: { created: 60 } }, parts: [{ type: "text", text: "Two" }] },
        ],
      });
    const helper = await importText(session({ parentID: "ses_1" }));
    expect([helper.sessions[0]?.parent, countsOf(helper)[0]]).toEqual([{ session_id: "ses_1", kinship: "sub-agent" }, 2]);
    for (const fork of [{ forkSessionID: "ses_1" }, { title: "Notes (fork #1)" }]) {
      const imported = await importText(session(fork));
      expect([tasks(imported), countsOf(imported)[0]]).toEqual([["Two"], 1]);
    }
  });
});

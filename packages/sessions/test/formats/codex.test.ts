import { describe, expect, it } from "vitest";
import { answersOf, countsOf, droppedOf, importText, jsonLines, usersOf } from "../support/import-text.js";

const line = (type: string, payload: unknown): unknown => ({ timestamp: "2026-01-05T10:00:00Z", type, payload });
const item = (payload: unknown): unknown => line("response_item", payload);
const event = (payload: unknown): unknown => line("event_msg", payload);
const says = (role: string, ...texts: string[]): unknown =>
  item({
    type: "message",
    role,
    content: texts.map((text) => ({ type: role === "assistant" ? "output_text" : "input_text", text })),
  });
const call = (id: string): unknown => item({ type: "function_call", name: "shell", arguments: "{}", call_id: id });
const output = (id: string, value: unknown): unknown => item({ type: "function_call_output", call_id: id, output: value });
const META = line("session_meta", { id: "codex-1", cli_version: "1.0" });

describe("codex", () => {
  it("takes one run of items between results as one answer, whatever other lines stand between them", async () => {
    const imported = await importText(
      jsonLines(
        META,
        says("user", "Go"),
        item({ type: "reasoning", summary: [{ type: "summary_text", text: "Look first." }], encrypted_content: "gAAA" }),
        event({ type: "token_count" }),
        line("turn_context", { model: "m-2" }),
        says("assistant", "Looking."),
        call("c1"),
        call("c2"),
        output("c1", "a"),
        output("c2", "b"),
        event({ type: "agent_message", message: "Done." }),
        says("assistant", "Done."),
      ),
    );
    expect(countsOf(imported)).toEqual([1, 2, 2, 2]);
    expect(imported.sessions[0]?.steps[1]).toMatchObject({ text: "Looking.", reasoning: "Look first." });
    expect(imported.sessions[0]?.source.model).toBe("m-2");
  });

  it("has the prompt that the recording begins with, and not that of a parent", async () => {
    const meta = (id: string, text: string): unknown => line("session_meta", { id, base_instructions: { text } });
    const lines = [meta("codex-1", "You run."), meta("codex-0", "You ran."), says("user", "Go"), says("assistant", "Gone.")];
    const { sessions } = await importText(jsonLines(...lines));
    expect(sessions[0]?.steps.map(({ source, text }) => [source, text])).toEqual([
      ...[
        ["system", "You run."],
        ["user", "Go"],
        ["agent", "Gone."],
      ],
    ]);
  });

  it("puts what a person ran with ! ahead of the next request", async () => {
    const ran = (command: string, code: number, printed: string): unknown =>
      says(
        "user",
        `<user_shell_command>\n<command>\n${command}\n</command>\n<result>\nExit code: ${code}\nDuration: 0.01 seconds\nOutput:\n${printed}\n</result>\n</user_shell_command>`,
      );
    const imported = await importText(
      jsonLines(
        META,
        says("user", "Go"),
        says("assistant", "Gone."),
        ran("make test", 2, "Output:\n1 failed\n"),
        ran("true", 0, ""),
        says("user", "Mend it."),
        says("assistant", "Mended."),
      ),
    );
    expect(usersOf(imported)).toEqual(["Go", "$ make test\nExit code: 2\nOutput:\n1 failed\n$ true\n\nMend it."]);
    expect(droppedOf(imported)).toEqual({});
  });

  it("leaves out what Codex says in the person's place, part by part", async () => {
    const imported = await importText(
      jsonLines(
        META,
        says("developer", "Sandbox on."),
        says(
          "user",
          "# AGENTS.md instructions for /x\n\n<INSTRUCTIONS>\nBe brief.\n</INSTRUCTIONS>",
          "<environment_context>\n  <cwd>/x</cwd>\n</environment_context>",
        ),
        says("user", "# Context from my IDE setup:\n\n## Open tabs:\n- a.ts\n\n## My request for Codex:\nFix the bug\n"),
        says("assistant", "Ok."),
      ),
    );
    expect(usersOf(imported)).toEqual(["Fix the bug"]);
    expect(droppedOf(imported)).toEqual({ "harness text": 3 });
  });

  const told = (message: string): unknown => event({ type: "user_message", message });
  const seen = ({ steps }: { readonly steps: readonly { readonly source: string; readonly text: string }[] }): string[] =>
    steps.map(({ source, text }) => `${source}: ${text}`);

  const newer = (text: string): unknown =>
    event({ type: "item_completed", item: { type: "UserMessage", content: [{ type: "text", text }] } });

  it.each([told, newer])("takes a request that an event alone tells at its place, once: %#", async (tell) => {
    const review = "Review the current changes.";
    const { sessions } = await importText(
      jsonLines(
        META,
        says("user", "Go"),
        tell("Go"),
        says("assistant", "Done."),
        event({ type: "task_complete" }),
        event({ type: "entered_review_mode" }),
        tell(review),
        tell(review),
        says("user", "<user_action>\n  <context>A review was asked for.</context>\n</user_action>"),
        says("assistant", "One finding."),
        tell("And the tests?"),
        event({ type: "turn_aborted" }),
        says("user", "Mend it"),
        tell("Mend it"),
        says("assistant", "Mended."),
      ),
    );
    expect(sessions.map(seen)).toEqual([
      [
        "user: Go",
        "agent: Done.",
        `user: ${review}`,
        "agent: One finding.",
        "user: And the tests?",
        "user: Mend it",
        "agent: Mended.",
      ],
    ]);
  });

  it("takes a request once that an event tells before its item, and in other words", async () => {
    const imported = await importText(
      jsonLines(
        META,
        told("<environment_context>\n  <cwd>/x</cwd>\n</environment_context>"),
        told("# Files\n\nFix the bug"),
        says("user", "Fix the bug"),
        says("assistant", "Ok."),
      ),
    );
    expect(usersOf(imported)).toEqual(["Fix the bug"]);
    expect(droppedOf(imported)).toEqual({ "line not read: event_msg user_message": 2 });
  });

  it.each([
    ["plain text", "out", "out", undefined],
    [
      "JSON text of older builds",
      JSON.stringify({ output: "boom", metadata: { exit_code: 2, duration_seconds: 0 } }),
      "boom",
      true,
    ],
    [
      "a list of parts",
      [
        { type: "input_text", text: "one" },
        { type: "input_text", text: "two" },
      ],
      "one\n\ntwo",
      undefined,
    ],
    ["newer text with an exit code", "Process exited with code 1\nOutput:\nno", "Process exited with code 1\nOutput:\nno", true],
    ["an object", { content: "inner", success: false }, "inner", true],
  ])("reads an output of %s", async (_, value, content, isError) => {
    const imported = await importText(jsonLines(META, says("user", "Go"), call("c1"), output("c1", value)));
    expect(imported.sessions[0]?.steps[1]?.observations).toEqual([
      { call_id: "c1", content, ...(isError ? { is_error: true } : {}) },
    ]);
  });

  it("keeps the text of a custom call, which is no JSON, and local shell calls", async () => {
    const patch = "*** Begin Patch\n+x\n*** End Patch";
    const imported = await importText(
      jsonLines(
        META,
        says("user", "Go"),
        item({ type: "custom_tool_call", name: "apply_patch", input: patch, call_id: "c1" }),
        item({ type: "custom_tool_call_output", call_id: "c1", output: "ok" }),
        item({ type: "local_shell_call", call_id: "c2", status: "completed", action: { type: "exec", command: ["ls"] } }),
        item({ type: "web_search_call", action: { type: "search", query: "q" } }),
      ),
    );
    const calls = imported.sessions[0]?.steps.flatMap((step) => step.tool_calls ?? []);
    expect(calls).toEqual([
      { id: "c1", name: "apply_patch", arguments: patch },
      { id: "c2", name: "local_shell", arguments: '{"type":"exec","command":["ls"]}' },
    ]);
    expect(droppedOf(imported)).toEqual({ "call run by the provider": 1 });
  });

  const report = "Message Type: FINAL_ANSWER\nTask name: main\nSender: main/gaps\nPayload:\nNo gaps.";
  const letter = { author: "main/gaps", recipient: "main", other_recipients: [], content: report, trigger_turn: false };
  const parts = [{ type: "input_text", text: report }];
  const note = '<subagent_notification>\n{"agent_id":"a1","status":{"completed":"No gaps."}}\n</subagent_notification>';
  it.each([
    ["an item", report, item({ ...letter, type: "agent_message", content: parts })],
    [
      "an item and a line of its own",
      report,
      item({ ...letter, type: "agent_message", content: parts }),
      line("inter_agent_communication", letter),
    ],
    ["an answer of this agent", report, says("assistant", JSON.stringify(letter))],
    ["a request", note, says("user", note)],
  ])(
    "takes what a helper reports, written down as %s, as context and as nobody's request or answer",
    async (_how, told, ...lines) => {
      const imported = await importText(
        jsonLines(
          META,
          says("user", "Go"),
          says("assistant", "I ask."),
          call("c1"),
          output("c1", "waited"),
          ...lines,
          says("assistant", "Done."),
        ),
      );
      expect(countsOf(imported)).toEqual([1, 2, 1, 1]);
      expect(usersOf(imported)).toEqual(["Go"]);
      expect(answersOf(imported)).toEqual(["I ask.", "Done."]);
      expect(imported.sessions[0]?.steps[1]?.observations?.slice(1)).toEqual([{ call_id: null, content: told }]);
    },
  );

  it("counts what another agent said in a cipher", async () => {
    const sealed = item({
      ...letter,
      type: "agent_message",
      content: [{ type: "encrypted_content", encrypted_content: "gAAA" }],
    });
    const imported = await importText(
      jsonLines(META, says("user", "Go"), says("assistant", "I ask."), sealed, says("assistant", "Done.")),
    );
    expect(droppedOf(imported)).toEqual({ "line not read: agent_message": 1 });
  });

  it("gives the last end that the log names, unless a new task was started", async () => {
    const ended = [META, says("user", "Go"), says("assistant", "Ok"), event({ type: "task_complete" })];
    const aborted = [...ended, event({ type: "task_started" }), says("user", "More"), event({ type: "turn_aborted" })];
    const running = [...ended, event({ type: "task_started" }), says("user", "More")];
    const signal = async (...lines: unknown[]): Promise<unknown> =>
      (await importText(jsonLines(...lines))).sessions[0]?.outcome_signal;
    expect([await signal(...ended), await signal(...aborted), await signal(...running)]).toEqual([
      "task_complete",
      "turn_aborted",
      null,
    ]);
  });

  it("forgets turns that were rolled back, and keeps those before a compaction", async () => {
    const imported = await importText(
      jsonLines(
        META,
        says("user", "One"),
        says("assistant", "1"),
        line("compacted", { message: "summary", replacement_history: [] }),
        says("user", "Two"),
        says("assistant", "2"),
        event({ type: "thread_rolled_back", num_turns: 1 }),
        says("user", "Three"),
        says("assistant", "3"),
      ),
    );
    expect(answersOf(imported)).toEqual(["1", "3"]);
    expect(droppedOf(imported)).toEqual({ "compaction summary": 1, "abandoned branch": 2 });
  });

  it("reads the first builds' lines without an envelope, and a torn end", async () => {
    const bare = [
      { id: "old-1", timestamp: "2025-04-01T00:00:00Z", instructions: null },
      { record_type: "state" },
      { type: "message", role: "user", content: [{ type: "input_text", text: "Go" }] },
      { type: "function_call", name: "shell", arguments: "{}", call_id: "c1" },
      { type: "function_call_output", call_id: "c1", output: "{}" },
    ];
    const imported = await importText(`${jsonLines(...bare)}{"type":"message","role":"assist`);
    expect(imported.file_id).toBe("old-1");
    expect(countsOf(imported)).toEqual([1, 1, 1, 1]);
    expect(imported.bad_lines).toBe(1);
  });
});

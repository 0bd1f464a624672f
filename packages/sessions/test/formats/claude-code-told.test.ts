import { describe, expect, it } from "vitest";
import { droppedOf, importText, jsonLines } from "../support/import-text.js";

const advisor = (id: string): object => ({ type: "server_tool_use", id, name: "advisor", input: {} });
const advice = (id: string, content: object): object => ({ type: "advisor_tool_result", tool_use_id: id, content });
const text = (words: string): object => ({ type: "text", text: words });
const run = { type: "tool_use", id: "c1", name: "Bash", input: { command: "make" } };

/** A response of six blocks, a line each, in which the model asks its advisor twice; then what its call gave, and its last word. */
const BLOCKS = [
  text("I ask."),
  ...[advisor("s1"), advice("s1", { type: "advisor_result", text: "Build first." })],
  text("I build."),
  ...[advisor("s2"), advice("s2", { type: "advisor_redacted_result", encrypted_content: "x" })],
  run,
];
const lines = (more: (at: number) => object): readonly object[] => [
  { type: "user", message: { role: "user", content: "Fix it" }, ...more(0) },
  ...BLOCKS.map((block, at) => ({
    type: "assistant",
    message: { role: "assistant", id: "m1", content: [block] },
    ...more(at + 1),
  })),
  {
    type: "user",
    message: { role: "user", content: [{ type: "tool_result", tool_use_id: "c1", content: "ok" }] },
    ...more(BLOCKS.length + 1),
  },
  { type: "assistant", message: { role: "assistant", id: "m2", content: [text("Done.")] }, ...more(BLOCKS.length + 2) },
];

it("the prompt and the tools that newer builds write down stand ahead of the first request", async () => {
  const schema = { name: "Bash", description: "Runs.", input_schema: { type: "object", properties: {} } };
  const snapshot = (at: number, more: object): object => ({
    ...{ type: "attachment", uuid: `p${at}`, parentUuid: at === 1 ? "u0" : "u1", sessionId: "s", isSidechain: false },
    attachment: { type: "prompt_snapshot", systemPrompt: ["\nYou work.\n", "Be brief."], ...more },
  });
  const line = (at: number, type: string, content: unknown): object => ({
    ...{ type, uuid: `u${at}`, parentUuid: at === 0 ? null : at === 1 ? "p1" : `u${at - 1}`, sessionId: "s", isSidechain: false },
    message: { role: type, id: `m${at}`, content },
  });
  const imported = await importText(
    jsonLines(
      ...[line(0, "user", "Fix it"), snapshot(1, {}), line(1, "assistant", [text("Done.")])],
      snapshot(2, { cliPrefix: "You are Claude Code.", tools: [{ name: "Bash", description: "Runs.", schema }] }),
      ...[line(2, "user", "Thanks"), line(3, "assistant", [text("Bye.")])],
    ),
  );
  expect(imported.sessions[0]?.steps.map(({ source, text: said }) => [source, said])).toEqual([
    ["system", "You are Claude Code.\nYou work.\nBe brief."],
    ...[
      ["user", "Fix it"],
      ["agent", "Done."],
      ["user", "Thanks"],
      ["agent", "Bye."],
    ],
  ]);
  expect(imported.sessions[0]?.tools).toEqual([{ name: "Bash", description: "Runs.", parameters: schema.input_schema }]);
  expect(droppedOf(imported)).toEqual({});
});

it("files and lines that a person named stand behind their words, and files that changed meanwhile behind the answer", async () => {
  let last: string | null = null;
  const line = (type: string, more: object): object => {
    const uuid = `u${(last ?? "u0").slice(1)}1`;
    const made = { type, uuid, parentUuid: last, sessionId: "s", isSidechain: false, ...more };
    last = uuid;
    return made;
  };
  const says = (type: string, id: string, content: unknown): object => line(type, { message: { role: type, id, content } });
  const shown = (attachment: object): object => line("attachment", { attachment });
  const file = { filePath: "/w/a.py", content: "a = 1\n", numLines: 1, startLine: 1, totalLines: 1 };
  const imported = await importText(
    jsonLines(
      says("user", "m0", "What does @a.py do?"),
      shown({ type: "file", filename: "/w/a.py", displayPath: "a.py", content: { type: "text", file } }),
      shown({ type: "selected_lines_in_ide", filename: "/w/b.py", lineStart: 1, lineEnd: 1, content: "b = 2" }),
      shown({ type: "file", filename: "/w/c.png", content: { type: "image", file: { base64: "x" } } }),
      says("assistant", "m1", [run]),
      says("user", "m2", [{ type: "tool_result", tool_use_id: "c1", content: "ok" }]),
      shown({ type: "edited_text_file", filename: "/w/a.py", snippet: "1\ta = 3" }),
      shown({ type: "diagnostics", files: [{ uri: "file:///w/a.py", diagnostics: [{ message: "b is unknown" }] }], isNew: true }),
      shown({
        type: "hook_blocking_error",
        hookName: "PostToolUse:Edit",
        blockingError: { blockingError: "lint", command: "x" },
      }),
      says("assistant", "m3", [text("It sets a.")]),
    ),
  );
  const told = "/w/a.py\n1\ta = 3\ndiagnostics\nfile:///w/a.py: b is unknown\nPostToolUse:Edit\nlint";
  expect(imported.sessions[0]?.steps).toMatchObject([
    { source: "user", text: "What does @a.py do?\n\na.py\na = 1\n\n/w/b.py\nb = 2" },
    { tool_calls: [{ id: "c1" }], observations: [{ content: "ok" }, { call_id: null, content: told }] },
    { text: "It sets a." },
  ]);
  expect(droppedOf(imported)).toEqual({ "line not read: attachment file": 1 });
});

describe("what an advisor of the provider says", () => {
  it.each([
    [
      "claude-code",
      (at: number) => ({ uuid: `u${at}`, parentUuid: at === 0 ? null : `u${at - 1}`, sessionId: "s", isSidechain: false }),
    ],
    ["claude-stream", () => ({ session_id: "s", parent_tool_use_id: null })],
  ])("is context of what the model does then, in %s", async (format, more) => {
    const imported = await importText(jsonLines(...lines(more)));
    expect(imported.format).toBe(format);
    expect(imported.sessions[0]?.steps).toMatchObject([
      { text: "Fix it" },
      { text: "I ask.", observations: [{ call_id: null, content: "Build first." }] },
      { text: "I build.", observations: [{ call_id: null, content: "[result not recorded]" }] },
      { text: "", tool_calls: [{ id: "c1" }], observations: [{ call_id: "c1", content: "ok" }] },
      { text: "Done." },
    ]);
    expect(droppedOf(imported)).toEqual({ "call run by the provider": 2 });
  });
});

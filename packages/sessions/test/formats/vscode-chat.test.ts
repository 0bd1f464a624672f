import { expect, it } from "vitest";
import { answersOf, countsOf, droppedOf, importText, jsonLines, usersOf } from "../support/import-text.js";

const id = "5b0e8a52-6c1d-4f0a-9a55-0c2f6c1f7001";
const head = { version: 3, sessionId: id, creationDate: 1_790_000_000_000, responderUsername: "GitHub Copilot" };
const request = (text: string, response: readonly object[], more: object = {}): object => ({
  requestId: "r",
  message: { text },
  response,
  modelId: "m-1",
  timestamp: 1_790_000_000_001,
  ...more,
});
const chat = (...requests: readonly object[]): ReturnType<typeof importText> =>
  importText(JSON.stringify({ ...head, requests }, null, 2));
const call = (toolCallId: string, more: object = {}): object => ({
  kind: "toolInvocationSerialized",
  toolId: "run_in_terminal",
  toolCallId,
  isComplete: true,
  ...more,
});

it("makes the chat of a log of changes: values set, elements put in, taken away and replaced", async () => {
  const imported = await importText(
    jsonLines(
      { kind: 0, v: { ...head, requests: [] } },
      { kind: 2, k: ["requests"], v: [request("Start the table at midnight.", [{ value: "STA" }]), request("Wrong.", [])] },
      { kind: 2, k: ["requests"], i: 1 },
      { kind: 2, k: ["requests", 0, "response"], i: 0, v: [{ value: "START has " }, { value: "to be 0." }] },
      { kind: 1, k: ["requests", 0, "modelId"], v: "m-2" },
      { kind: 3, k: ["inputState"] },
      { kind: 1, k: ["customTitle"], v: "midnight" },
    ),
  );
  expect(imported.format).toBe("vscode-chat");
  expect(usersOf(imported)).toEqual(["Start the table at midnight."]);
  expect(answersOf(imported)).toEqual(["START has to be 0."]);
  expect(imported.sessions[0]).toMatchObject({ session_id: id, source: { agent: "GitHub Copilot", model: "m-2" } });
});

it("survives changes whose path leads nowhere, and counts them", async () => {
  const imported = await importText(
    jsonLines(
      { kind: 0, v: { ...head, requests: [request("Hi", [{ value: "Hello." }])] } },
      { kind: 1, k: ["requests", 7, "result"], v: {} },
      { kind: 1, k: ["requests", 4_000_000_000], v: {} },
      { kind: 1, k: ["__proto__", "polluted"], v: true },
      { kind: 1, k: ["constructor", "prototype", "polluted"], v: true },
    ),
  );
  expect(imported.bad_lines).toBe(4);
  expect(answersOf(imported)).toEqual(["Hello."]);
  expect("polluted" in {}).toBe(false);
});

it("takes the rounds that the extension keeps: what the model wrote, thought and called, and what came back", async () => {
  const tree = {
    type: 1,
    children: [
      { type: 2, text: "START = 6" },
      { type: 2, text: "END = 7", lineBreakBefore: true },
    ],
  };
  const rounds = [
    {
      response: "I look.",
      thinking: { id: "t", text: ["Let me", " see."] },
      toolCalls: [
        { id: "c1", name: "read_file", arguments: '{"filePath":"table.py"}' },
        { id: "c2", name: "list_dir", arguments: "{}" },
      ],
    },
    { response: "START has to be 0.", toolCalls: [] },
  ];
  const toolCallResults = { c1: { $mid: 20, content: [{ $mid: 22, value: { node: tree } }] } };
  const response = [{ value: "I look." }, call("x"), { kind: "progressTask", content: { value: "…" } }, { value: "START…" }];
  const imported = await chat(
    request("Start it.", response, { result: { metadata: { toolCallRounds: rounds, toolCallResults } } }),
  );
  expect(countsOf(imported)).toEqual([1, 2, 2, 2]);
  expect(imported.sessions[0]?.steps[1]).toMatchObject({
    text: "I look.",
    reasoning: "Let me see.",
    tool_calls: [{ id: "c1", name: "read_file" }, { id: "c2" }],
    observations: [{ content: "START = 6\nEND = 7" }, { call_id: "c2", content: "[result not recorded]" }],
  });
  expect(answersOf(imported)[1]).toBe("START has to be 0.");
  expect(droppedOf(imported)).toEqual({ "tool result not recorded": 1, "environment note": 1 });
});

it("takes the last words from what was shown where the rounds end with a call", async () => {
  const rounds = [{ response: "I look.", toolCalls: [{ id: "c1", name: "read_file", arguments: "{}" }] }];
  const metadata = { toolCallRounds: rounds, toolCallResults: { c1: { content: [{ value: "6" }] } } };
  const imported = await chat(request("Go.", [{ value: "I look." }, call("x"), { value: "It is 6." }], { result: { metadata } }));
  expect(answersOf(imported)).toEqual(["I look.", "It is 6."]);
});

it("reads what was shown where no rounds are kept: commands with their output, and other calls as what they did", async () => {
  const terminal = {
    kind: "terminal",
    commandLine: { original: "make test" },
    terminalCommandState: { exitCode: 2 },
    terminalCommandOutput: { text: "1 failed" },
  };
  const imported = await chat(
    request("Test it.", [
      { kind: "mcpServersStarting" },
      { kind: "thinking", value: "Tests." },
      { value: "See " },
      { kind: "inlineReference", inlineReference: { fsPath: "/work/table.py", scheme: "file" } },
      call("c1", { toolSpecificData: terminal }),
      call("c1", { toolSpecificData: terminal, pastTenseMessage: "Ran it" }),
      call("c2", { toolId: "copilot_readFile", pastTenseMessage: { value: "Read table.py" } }),
      { value: "One fails." },
    ]),
  );
  expect(imported.sessions[0]?.steps.slice(1)).toMatchObject([
    {
      text: "See `table.py`",
      reasoning: "Tests.",
      tool_calls: [{ id: "c1", name: "run_in_terminal", arguments: '{"command":"make test"}' }],
      observations: [
        { call_id: "c1", content: "1 failed", is_error: true },
        { call_id: null, content: "[Read table.py]" },
      ],
    },
    { text: "One fails." },
  ]);
  expect(droppedOf(imported)).toEqual({ "call not recorded in full": 1, "environment note": 1 });
});

it("does not supervise an answer that was stopped, and leaves out what was undone", async () => {
  const imported = await chat(
    request("One.", [{ value: "Yes." }], { shouldBeRemovedOnSend: { requestId: "r" } }),
    request("Two.", [{ value: "Half of" }], { isCanceled: true }),
  );
  expect(usersOf(imported)).toEqual(["Two."]);
  expect(imported.sessions[0]).toMatchObject({ outcome_signal: "canceled", steps: [{}, { context_only: "aborted" }] });
  expect(droppedOf(imported)).toEqual({ "abandoned branch": 1 });
});

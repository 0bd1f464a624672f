import { expect, it } from "vitest";
import { answersOf, countsOf, importText, jsonLines, usersOf } from "../support/import-text.js";

const heard = (source: string, content: string): object => ({ class_: "text_observation", content, name: null, source });
const ran = (content: string, description: string | null = null): object => ({
  class_: "code_action",
  language: "bash",
  content,
  description,
});
const told = (content: string, description: string | null = null): object => ({ class_: "message_action", content, description });
const table = [
  heard("user", "Start the table at midnight."),
  ran("cat table.py", "I look."),
  heard("environment", "START = 6"),
  told("START has to be 0."),
];

it("reads code that was run as a call, and what was thought before it as the model's words", async () => {
  const imported = await importText(JSON.stringify([{ id: "tide_1", content: table, details: {} }], null, 1));
  expect(imported.format).toBe("agent-data-protocol");
  expect(countsOf(imported)).toEqual([1, 2, 1, 1]);
  expect(imported.sessions[0]?.session_id).toMatch(/^agent-data-protocol-[0-9a-f]{16}-tide_1$/);
  expect(imported.sessions[0]?.steps[1]).toMatchObject({
    text: "I look.",
    tool_calls: [{ name: "bash", arguments: '{"code":"cat table.py"}' }],
    observations: [{ content: "START = 6" }],
  });
});

it("gives calls in a row their results in order, an empty one too, and reads pages and pictures", async () => {
  const api = (name: string): object => ({ class_: "api_action", function: name, kwargs: { x: 1 }, description: null });
  const page = {
    class_: "web_observation",
    url: "https://tide.test",
    axtree: "heading Tides",
    html: "<h1>",
    image_observation: null,
  };
  const content = [
    heard("user", "Look at both."),
    api("first"),
    api("second"),
    heard("environment", ""),
    page,
    api("third"),
    { class_: "image_observation", content: "a.png", annotations: [], source: "environment" },
    told("Both.", "So."),
  ];
  const imported = await importText(jsonLines({ id: "a", content, details: {} }, { id: "b", content: table, details: {} }));
  expect(imported.sessions[0]?.steps.slice(1, 3)).toMatchObject([
    {
      tool_calls: [{ name: "first", arguments: '{"x":1}' }, { name: "second" }],
      observations: [
        { call_id: "call-1", content: "" },
        { call_id: "call-2", content: "https://tide.test\nheading Tides" },
      ],
    },
    { observations: [{ content: "[image]" }] },
  ]);
  expect(answersOf(imported).slice(0, 3)).toEqual(["", "", "So.\n\nBoth."]);
  expect(usersOf(imported)).toEqual(["Look at both.", "Start the table at midnight."]);
});

it("reads a trajectory that is kept as JSON text, and the verdict in its details", async () => {
  const record = { id: "t", content: JSON.stringify(table), details: { resolved: "False", repo: "tide" } };
  const { sessions } = await importText(jsonLines(record));
  expect(sessions).toMatchObject([{ outcome: "failure", outcome_signal: "resolved: False" }]);
});

it("goes by the ids of calls where they are kept, and takes what stands before all for the system's", async () => {
  const named = (tool_call_id: string, item: object): object => ({ ...item, tool_call_id });
  const content = [
    heard("environment", "You work in a shell."),
    heard("user", "Look."),
    named("b", { ...ran("ls"), reasoning_content: "Both." }),
    named("a", { class_: "api_action", function: "search", kwargs: {} }),
    named("a", heard("environment", "of a")),
    named("b", heard("environment", "of b")),
    told("Done."),
  ];
  expect((await importText(jsonLines({ id: "t", content }))).sessions[0]?.steps).toMatchObject([
    { source: "system", text: "You work in a shell." },
    { source: "user" },
    {
      reasoning: "Both.",
      tool_calls: [{ id: "b" }, { id: "a" }],
      observations: [
        { call_id: "a", content: "of a" },
        { call_id: "b", content: "of b" },
      ],
    },
    { text: "Done." },
  ]);
});

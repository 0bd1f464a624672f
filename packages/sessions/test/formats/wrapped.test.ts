import { describe, expect, it } from "vitest";
import { importText, jsonLines } from "../support/import-text.js";

const call = { id: "c1", type: "function", function: { name: "bash", arguments: '{"command": "cat table.py"}' } };
const talk = [
  { role: "system", content: "You mend code." },
  { role: "user", content: "Start the table at midnight." },
  { role: "assistant", content: "I look.", tool_calls: [call] },
  { role: "tool", content: [{ type: "text", text: "START = 6" }], tool_call_ids: ["c1"] },
  { role: "assistant", content: "START has to be 0." },
];
const READ = [
  { source: "system", text: "You mend code." },
  { source: "user", text: "Start the table at midnight." },
  { source: "agent", text: "I look.", tool_calls: [{ id: "c1" }], observations: [{ call_id: "c1", content: "START = 6" }] },
  { source: "agent", text: "START has to be 0." },
];
const turns = talk.map(({ role, content }) => ({ from: role, value: content }));
const text = (value: unknown): string => JSON.stringify(value);
const read = async (record: object) => (await importText(jsonLines(record))).sessions[0];

describe("a conversation that is wrapped once more", () => {
  it.each([
    ["messages as JSON text", { instance_id: "tide-1", model: "m", messages: text(talk) }, "chat-jsonl"],
    ["messages as JSON text of JSON text", { messages: text(text(talk)) }, "chat-jsonl"],
    ["messages under the name of trajectory, with tools", { trajectory: talk, tools: text([call]) }, "chat-jsonl"],
    ["a trajectory as JSON text", { trajectory: ` ${text(talk)}`, exit_status: "submit" }, "chat-jsonl"],
    ["a run of SWE-agent as JSON text", { history: text(talk), info: {} }, "swe-agent"],
    ["a record in the cell of a row", { task: "tide", trajectory: { messages: talk } }, "chat-jsonl"],
    ["a record as JSON text in the cell of a row", { task: "tide", conversation: text({ messages: talk }) }, "chat-jsonl"],
  ])("is read from %s", async (_, record, format) => {
    const session = await read(record);
    expect(session?.source.format).toBe(format);
    expect(session?.steps).toMatchObject(READ);
  });

  it("is read from turns as JSON text, and from a run's document in a cell", async () => {
    expect((await read({ conversations: text(turns) }))?.source.format).toBe("sharegpt");
    const document = {
      schema_version: "ATIF-v1.6",
      session_id: "run-1",
      agent: { name: "terminus-2" },
      steps: [
        { step_id: 1, source: "user", message: "Count the gates." },
        { step_id: 2, source: "agent", message: "One gate." },
      ],
    };
    for (const trajectory of [document, text(document)])
      expect(await read({ trial_name: "gates__1", trajectory, reward: 1.0 })).toMatchObject({
        session_id: "run-1",
        outcome: "success",
        source: { format: "atif", agent: "terminus-2" },
      });
  });

  it("is read from a page of a data set", async () => {
    const page = { features: [{ name: "messages" }], rows: [{ row_idx: 0, row: { messages: text(talk), resolved: true } }] };
    for (const spaces of [0, 1]) {
      const { sessions } = await importText(JSON.stringify(page, null, spaces));
      expect(sessions).toMatchObject([{ outcome: "success", steps: READ }]);
    }
  });

  it("stays as it is where JSON text is what was said", async () => {
    const session = await read({
      messages: [
        { role: "user", content: '[{"role":"user"}]' },
        { role: "assistant", content: "{}" },
      ],
    });
    expect(session?.steps.map((step) => step.text)).toEqual(['[{"role":"user"}]', "{}"]);
  });
});

describe("a verdict beside a conversation is its outcome", () => {
  const messages = talk;
  it.each([
    ["success", "resolved: true", { messages, resolved: true }],
    ["failure", "resolved: false", { messages, resolved: false }],
    ["failure", "resolved: 0", { messages, resolved: 0 }],
    ["success", "resolved: True", { messages, metadata: { resolved: "True" } }],
    ["success", "resolved: true", { messages, report: { resolved: true } }],
    ["success", "reward: 1", { messages, reward: 1.0 }],
    ["failure", "reward: 0", { messages, reward: 0 }],
    ["unknown", "reward: 0.5", { messages, reward: 0.5 }],
    ["success", "reward: 1", { messages, verifier_result: { rewards: { reward: 1 } } }],
    ["failure", "reward: 0", { messages, result: { verifier_result: { rewards: { reward: 0 } } } }],
    ["success", "reward: 1.0", { conversations: turns, trial_name: "gates__1", result: "1.0" }],
    ["unknown", "AgentTimeoutError", { conversations: turns, trial_name: "gates__1", result: "AgentTimeoutError" }],
    ["unknown", null, { messages, resolved: "perhaps", reward: null }],
    ["unknown", null, { conversations: turns, result: "1.0" }],
  ])("%s by %s", async (outcome, outcome_signal, record) => {
    expect(await read(record)).toMatchObject({ outcome, outcome_signal });
  });
});

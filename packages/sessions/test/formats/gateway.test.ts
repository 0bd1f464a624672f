import type { ChatMessage, Step } from "@imprint/contracts";
import { type GatewayRecording, summarize } from "@imprint/sessions";
import fc from "fast-check";
import { expect, it } from "vitest";
import { importText } from "../support/import-text.js";

const message = (role: ChatMessage["role"], content: string, more: Partial<ChatMessage> = {}): ChatMessage => ({
  role,
  content,
  tool_calls: [],
  tool_call_id: null,
  ...more,
});

const recording = (messages: readonly ChatMessage[], more: Partial<GatewayRecording> = {}): string =>
  JSON.stringify({
    recorded_by: "imprint",
    version: 1,
    session_id: "gateway-1",
    started_at: "2026-01-05T10:00:00.000Z",
    agent: null,
    model: "m-1",
    tools: [],
    messages,
    answered: messages.flatMap(({ role }, place) => (role === "assistant" ? [place] : [])),
    cut: [],
    ...more,
  } satisfies GatewayRecording);

const sessionOf = async (...given: Parameters<typeof recording>) => {
  const [session] = (await importText(recording(...given))).sessions;
  if (session === undefined) throw new Error("a recording is a session");
  return session;
};

/** What steps say, in the order in which it was sent where each result follows its call at once. */
const said = (steps: readonly Step[]): ChatMessage[] =>
  steps.flatMap(({ source, text, tool_calls = [], observations = [] }) => [
    message(source === "agent" ? "assistant" : source, text, { tool_calls }),
    ...observations.map(({ call_id, content }) => message("tool", content, { tool_call_id: call_id })),
  ]);

const text = fc.constantFrom("", " ", "Look.\n", "grüße 🦘", "<|im_end|>", "\u2028", "{}");
const turn = fc.oneof(
  fc
    .record({ role: fc.constantFrom("system", "user", "assistant"), content: text })
    .map(({ role, content }) => [message(role as ChatMessage["role"], content)]),
  fc
    .record({ content: text, results: fc.array(text, { minLength: 1, maxLength: 3 }), name: fc.constantFrom("bash", "read") })
    .map(({ content, results, name }) => {
      // Ids repeat from turn to turn, as some clients have it.
      const calls = results.map((_result, at) => ({ id: `call_${at}`, name, arguments: content }));
      return [
        message("assistant", content, { tool_calls: calls }),
        ...results.map((result, at) => message("tool", result, { tool_call_id: `call_${at}` })),
      ];
    }),
);

it("keeps every message as it was sent", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(turn, { maxLength: 12 }), async (turns) => {
      const messages = [message("user", "Fix it."), ...turns.flat()];
      expect(said((await sessionOf(messages)).steps)).toEqual(messages);
    }),
  );
});

it("says who asked, which model answered, which tools there were, and when", async () => {
  const tools = [
    { name: "bash", description: "Runs.", parameters: { type: "object" } },
    { name: "stop", description: null, parameters: null },
  ];
  expect(await sessionOf([message("user", "Hi")], { tools, agent: "opencode" })).toMatchObject({
    session_id: "gateway-1",
    source: { format: "gateway", format_version: "1", agent: "opencode", model: "m-1" },
    started_at: "2026-01-05T10:00:00.000Z",
    tools: [tools[0], { name: "stop" }],
  });
});

it("takes no answer for a lesson that the room for it cut off", async () => {
  const { steps } = await sessionOf([message("user", "Hi"), message("assistant", "Hel")], { cut: [1] });
  expect(steps[1]).toEqual({ source: "agent", text: "Hel", context_only: "aborted" });
});

it("takes no answer for a lesson that was sent to the model and not given by it", async () => {
  const example = [message("user", "Say hi."), message("assistant", "Hi.")];
  const { steps } = await sessionOf([...example, ...example], { answered: [3] });
  expect(steps.map(({ context_only }) => context_only)).toEqual([undefined, "synthetic", undefined, undefined]);
});

it("counts a result of no call", async () => {
  const { bad_lines, steps } = await sessionOf([message("user", "Hi"), message("tool", "x", { tool_call_id: "c1" })]);
  expect([bad_lines, steps.length]).toEqual([1, 1]);
});

it("replaces secrets", async () => {
  const key = `ghp_${"a1B2".repeat(9)}`;
  const session = await sessionOf([message("user", `token ${key}`), message("assistant", key)]);
  expect(JSON.stringify(session)).not.toContain(key);
  expect(session.redactions).toHaveLength(1);
});

const TASK = "Open the gates.";
const answer = message("assistant", "They are open.");

it.each([
  ["Claude Code", [message("user", `<system-reminder>\nToday is Monday.\n</system-reminder>\n\n\n${TASK}`)]],
  ["Codex", [message("user", "<environment_context>\n  <cwd>/a</cwd>\n</environment_context>"), message("user", TASK)]],
  ["Cline", [message("user", `<user_input mode="act">${TASK}</user_input>\n<environment_details>\nx\n</environment_details>`)]],
  ["an agent that adds nothing", [message("user", TASK)]],
  ["an agent of whose words nothing is known", [message("user", `<task-notification>\n${TASK}\n</task-notification>`)]],
])("says the task that %s was given, and keeps all that was sent", async (_agent, asked) => {
  const session = await sessionOf([message("system", "You are an agent."), ...asked, answer]);
  expect(summarize(session).task).toContain(TASK);
  expect(said(session.steps).slice(1, -1)).toEqual(asked);
});

it("takes the task from behind the examples that aider puts into the model's mouth", async () => {
  const examples = [message("user", "Change the greeting."), message("assistant", "Ok.")];
  const session = await sessionOf([...examples, message("user", TASK), answer], { answered: [3] });
  expect(summarize(session).task).toBe(TASK);
});

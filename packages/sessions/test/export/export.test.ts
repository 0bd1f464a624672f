import type { Session, Step } from "@imprint/contracts";
import { toAtif, toMessages } from "@imprint/sessions";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { importText, jsonLines } from "../support/import-text.js";

const text = fc.string({ minLength: 1, maxLength: 20 }).filter((some) => some.trim() !== "" && !/[<>]/.test(some));
const user: fc.Arbitrary<Step> = text.map((said) => ({ source: "user", text: said }));

/** An answer with up to two calls, all of them answered. */
const answer = (index: number): fc.Arbitrary<Step> =>
  fc.record({ said: text, names: fc.array(fc.constantFrom("read_file", "run"), { maxLength: 2 }), result: text }).map((drawn) => {
    const calls = drawn.names.map((name, at) => ({
      id: `c${index}-${at}`,
      name,
      arguments: JSON.stringify({ path: drawn.said }),
    }));
    return {
      source: "agent",
      text: drawn.said,
      ...(calls.length > 0 && {
        tool_calls: calls,
        observations: calls.map(({ id }) => ({ call_id: id, content: drawn.result })),
      }),
    };
  });

const steps = fc
  .array(fc.nat(), { minLength: 1, maxLength: 6 })
  .chain((turns) => fc.tuple(user, ...turns.map((_, index) => answer(index))));

const session = (of: readonly Step[], more: Partial<Session> = {}): Session => ({
  schema_version: 1,
  session_id: "s-1",
  source: { format: "pi", format_version: "3", agent: "pi", model: "m", sha256: "0".repeat(64) },
  task_type: null,
  outcome: "success",
  outcome_signal: null,
  started_at: "2026-01-05T10:00:00.000Z",
  tools: [{ name: "run", parameters: { type: "object", properties: { path: { type: ["string", "null"] } } } }],
  steps: [...of],
  bad_lines: 0,
  dropped: [],
  redactions: [],
  ...more,
});

/** Read again, without what only the file's own ids and times tell. */
const readAgain = async (document: string): Promise<Session> => {
  const { sessions } = await importText(document);
  expect(sessions).toHaveLength(1);
  return sessions[0] as Session;
};

describe("sessions out", () => {
  it("any session comes back as it was through messages, and through ATIF", async () => {
    await fc.assert(
      fc.asyncProperty(steps, async (drawn) => {
        const { messages, tools } = toMessages(session(drawn));
        const asMessages = await readAgain(jsonLines({ messages, tools: JSON.parse(tools) }));
        expect(asMessages.steps).toMatchObject(drawn);
        expect(asMessages.tools).toEqual(session(drawn).tools);
        const asAtif = await readAgain(JSON.stringify(toAtif(session(drawn))));
        expect(asAtif).toMatchObject({ session_id: "s-1", steps: drawn, tools: session(drawn).tools });
      }),
      { numRuns: 60 },
    );
  });

  it("marks what a training learns from, and nothing else", () => {
    const of = session([
      { source: "system", text: "Be brief." },
      { source: "agent", text: "Before any task." },
      { source: "user", text: "Fix it." },
      { source: "agent", text: "Failed.", context_only: "failed" },
      { source: "agent", text: "Done.", observations: [{ call_id: null, content: "exit 0" }] },
    ]);
    expect(toMessages(of).messages.map(({ role, weight }) => [role, weight])).toEqual([
      ["system", null],
      ["assistant", 0],
      ["user", null],
      ["assistant", 0],
      ["assistant", 1],
      ["user", null],
    ]);
    const trained = toAtif(of).steps.map(({ extra }) => (extra as { trained?: boolean } | undefined)?.trained);
    expect(trained).toEqual([undefined, false, undefined, false, true]);
  });

  it("gives every message all fields, and a result without its call to the user", () => {
    const { messages } = toMessages(
      session([
        { source: "user", text: "Go." },
        { source: "agent", text: "", tool_calls: [{ id: "a", name: "patch", arguments: "*** Begin" }] },
        { source: "agent", text: "", context_only: "synthetic", observations: [{ call_id: "gone", content: "late" }] },
      ]),
    );
    for (const message of messages)
      expect(Object.keys(message).sort()).toEqual(
        ["content", "reasoning_content", "role", "tool_call_id", "tool_calls", "weight"].sort(),
      );
    expect(messages.at(-1)).toMatchObject({ role: "user", content: "late", tool_call_id: null });
  });

  it("writes ATIF that its rules allow: steps from 1, arguments as objects, no reasoning where no model was asked", () => {
    const { steps: written, agent } = toAtif(
      session(
        [
          { source: "user", text: "Go." },
          { source: "agent", text: "", tool_calls: [{ id: "a", name: "patch", arguments: "*** Begin" }] },
          { source: "agent", text: "", reasoning: "why", context_only: "synthetic" },
        ],
        { source: { format: "codex", format_version: null, agent: null, model: null, sha256: "0".repeat(64) } },
      ),
    );
    expect(agent).toMatchObject({ name: "codex", version: "unknown" });
    expect(written.map(({ step_id }) => step_id)).toEqual([1, 2, 3]);
    expect(written[1]?.tool_calls).toEqual([{ tool_call_id: "a", function_name: "patch", arguments: { input: "*** Begin" } }]);
    expect(written[2]).toMatchObject({ llm_call_count: 0 });
    expect(written[2]).not.toHaveProperty("reasoning_content");
  });
});

import type { Session } from "@imprint/contracts";
import { expect, it } from "vitest";
import { outlineOf } from "../src/outline.js";

const call = (id: string, command: string) => ({ id, name: "bash", arguments: JSON.stringify({ command }) });

const steps = (last: string, id = "c1"): Session["steps"] => [
  { source: "system", text: "You are an agent." },
  { source: "user", text: "Fix it.", timestamp: `2026-01-0${last.length}T00:00:00Z` },
  { source: "agent", text: "", tool_calls: [call(id, "ls")], observations: [{ call_id: id, content: "a.ts" }] },
  { source: "agent", text: last },
];

it("recordings that go on differently begin alike, and ids and times do not count", () => {
  const [one, other, same] = [
    outlineOf({ steps: steps("Done.") }),
    outlineOf({ steps: steps("Failed.") }),
    outlineOf({ steps: steps("Done.", "c9") }),
  ];
  expect(one.opening).toBe(other.opening);
  expect(one.content).not.toBe(other.content);
  expect(same).toEqual(one);
  expect(one.characters).toBe("You are an agent.Fix it.a.tsDone.".length + call("", "ls").arguments.length);
});

it("another task, another first answer and another result are told apart", () => {
  const changed = (at: number, change: object) => steps("Done.").map((step, n) => (n === at ? { ...step, ...change } : step));
  const base = outlineOf({ steps: steps("Done.") });
  expect(outlineOf({ steps: changed(1, { text: "Break it." }) }).opening).not.toBe(base.opening);
  expect(outlineOf({ steps: changed(2, { tool_calls: [call("c1", "pwd")] }) }).opening).not.toBe(base.opening);
  const heard = outlineOf({ steps: changed(2, { observations: [{ call_id: "c1", content: "b.ts" }] }) });
  expect([heard.opening === base.opening, heard.content === base.content]).toEqual([true, false]);
  expect(outlineOf({ steps: [] }).characters).toBe(0);
});

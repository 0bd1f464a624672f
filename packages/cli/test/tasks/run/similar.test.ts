import type { Session, SessionSummary } from "@imprint/contracts";
import { expect, it } from "vitest";
import { likeness, mostLike, promptWith } from "../../../src/tasks/run/similar.js";

it.each([
  ["fix the gate", "fix the gate", 1],
  ["fix the gate", "Fix the GATE!", 1],
  ["fix the gate", "open the gate now", 2 / 5],
  ["fix the gate", "write words", 0],
  ["", "", 0],
])("%j and %j share %f of their words", (one, other, share) => {
  expect(likeness(one, other)).toBeCloseTo(share, 12);
});

it("takes the session whose request is most like what is asked, and none where there is none", () => {
  const sessions = ["Add a page on locks", "Add a gate to the harbour", "Fix prices"].map(
    (task, at) => ({ session_id: `s${at}`, task }) as SessionSummary,
  );
  expect(mostLike(sessions, "Add the gate east")?.session_id).toBe("s1");
  expect(mostLike(sessions, "Something else")?.session_id).toBe("s0");
  expect(mostLike([], "Add the gate east")).toBeNull();
});

it("puts a session ahead of what is asked, what was said, called and answered, and cuts it to half of the context", () => {
  const steps: Session["steps"] = [
    { source: "system", text: "You are an agent." },
    { source: "user", text: "Open the gate." },
    {
      source: "agent",
      text: "I look.",
      tool_calls: [{ id: "1", name: "bash", arguments: '{"command":"ls"}' }],
      observations: [{ call_id: "1", content: "gate.txt\n" }],
    },
  ];
  const text = promptWith({ steps }, "Close the gate.", 8192);
  expect(text).toBe(
    [
      "This is how a similar task was done before:",
      "Request: Open the gate.",
      "Agent: I look.",
      'Agent calls bash: {"command":"ls"}',
      "Result: gate.txt",
      "This is your task:",
      "Close the gate.",
    ].join("\n\n"),
  );
  const long = { steps: [{ source: "user", text: "x".repeat(100_000) }] satisfies Session["steps"] };
  expect(promptWith(long, "Close it.", 1000).length).toBeLessThan(1600);
  expect(promptWith(long, "Close it.", 1000)).toMatch(/Close it\.$/);
});

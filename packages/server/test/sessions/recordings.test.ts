import type { Step } from "@imprint/contracts";
import fc from "fast-check";
import { expect, test } from "vitest";
import { relationOf } from "../../src/sessions/recordings.js";
import { makeSession } from "../support/session.js";

const stepArb: fc.Arbitrary<Step> = fc.record({ source: fc.constantFrom("user", "agent"), text: fc.string({ minLength: 1 }) });
const stepsArb = fc.array(stepArb, { minLength: 1, maxLength: 6 });
const of = (steps: Step[], started_at: string | null = null) => makeSession("s", { steps, started_at });

test("a recording that goes on is newer, and what it grew from is older", () => {
  fc.assert(
    fc.property(stepsArb, stepsArb, (begin, more) => {
      const steps: Step[] = [{ source: "user", text: "Fix it." }, ...begin];
      expect(relationOf(of(steps), of([...steps, ...more]))).toBe("newer");
      expect(relationOf(of([...steps, ...more]), of(steps))).toBe("older");
    }),
  );
});

test("other bytes that say the same are the same recording", () => {
  fc.assert(
    fc.property(stepsArb, (steps) => {
      expect(relationOf(of(steps), of(structuredClone(steps)))).toBe("same");
    }),
  );
});

test("a last step that was cut off may be longer in the newer recording", () => {
  const task: Step = { source: "user", text: "Fix it." };
  const cut = of([task, { source: "agent", text: "I" }]);
  const whole = of([task, { source: "agent", text: "I fixed it." }]);
  expect(relationOf(cut, whole)).toBe("newer");
});

test("what was rewound is the same session where it began at the same instant, and another one where nobody knows", () => {
  const steps = (middle: string): Step[] => ["Fix it.", middle, "More."].map((text) => ({ source: "user", text }));
  const at = "2026-01-01T00:00:00.000Z";
  expect(relationOf(of(steps("a"), at), of(steps("b"), at))).toBe("newer");
  expect(relationOf(of(steps("a")), of(steps("b")))).toBe("other");
  expect(relationOf(of(steps("a"), at), of(steps("a"), "2026-01-02T00:00:00.000Z"))).toBe("other");
});

test("another task makes another session", () => {
  const at = "2026-01-01T00:00:00.000Z";
  expect(relationOf(of([{ source: "user", text: "Fix it." }], at), of([{ source: "user", text: "Break it." }], at))).toBe(
    "other",
  );
});

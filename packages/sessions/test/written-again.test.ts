import type { Step } from "@imprint/contracts";
import { describe, expect, it } from "vitest";
import { withoutWrittenAgain } from "../src/written-again.js";

const user = (text: string, timestamp?: string): Step => ({
  source: "user",
  text,
  ...(timestamp !== undefined && { timestamp }),
});
const agent = (text: string, call?: string): Step => ({
  source: "agent",
  text,
  ...(call !== undefined && { tool_calls: [{ id: call, name: "bash", arguments: "{}" }] }),
});
const words = (...steps: readonly Step[]): string =>
  withoutWrittenAgain(steps)
    .map(({ text }) => text)
    .join(" ");

describe("what a tool wrote again", () => {
  it("is left out from the beginning, however often, behind one system text", () => {
    const system: Step = { source: "system", text: "S" };
    const [a, b] = [
      [user("A"), agent("1", "c1"), agent("2")],
      [user("B"), agent("3")],
    ];
    expect(words(system, ...a, ...a, ...a, ...b)).toBe("S A 1 2 B 3");
    expect(words(...a, ...a, ...b, ...a, ...b, user("C"))).toBe("A 1 2 B 3 C");
  });

  it("is left out in the middle too, where its calls show it", () => {
    const middle = [user("B"), agent("3", "c2"), agent("4")];
    expect(words(user("A"), agent("1", "c1"), ...middle, ...middle, user("C"))).toBe("A 1 B 3 4 C");
  });

  it("is known without calls by its times, or by its length", () => {
    const at = "2026-01-05T10:00:00.000Z";
    expect(words(user("A", at), agent("1"), user("A", at), agent("1"), user("B"))).toBe("A 1 B");
    const four = [user("A"), agent("1"), user("B"), agent("2")];
    expect(words(...four, ...four)).toBe("A 1 B 2");
  });

  it("is not what a person says again, or an agent calls again", () => {
    expect(words(user("A"), agent("1"), user("A"), agent("1"))).toBe("A 1 A 1");
    expect(words(user("A"), agent("1", "c1"), user("A"), agent("1", "c2"))).toBe("A 1 A 1");
    expect(words(user("A"), agent("", "call_0"), agent("", "call_0"), agent("2"))).toBe("A   2");
  });

  it("is looked for in little time", () => {
    const began = performance.now();
    const same = Array.from({ length: 20_000 }, () => agent("x", "c"));
    expect(withoutWrittenAgain([user("A"), ...same])).toHaveLength(20_001);
    expect(performance.now() - began).toBeLessThan(5_000);
  });
});

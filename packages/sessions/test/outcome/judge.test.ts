import { EVIDENCE_KINDS, type Evidence, endingOf, type Step } from "@imprint/contracts";
import { describe, expect, it } from "vitest";
import { judge } from "../../src/outcome/judge.js";
import { COMMITTED, call, DONE, edited, FAILED, judged, ran, says, shown, TASK, TESTED } from "./made.js";

const PARTS: readonly Step[] = [
  ...[COMMITTED, TESTED, FAILED, DONE, edited(), says("user", "thanks"), says("user", "no, that's wrong"), TASK],
  ...[ran("git revert HEAD", "ok"), ran("npm run lint", "Exit code 1", true), call("Read", { file_path: "a" }, "text")],
];

/** Numbers that look random and are the same in every run. */
function* numbers(seed: number): Generator<number> {
  for (let state = seed; ; ) {
    state = (state * 1103515245 + 12345) % 2 ** 31;
    yield state;
  }
}

function* madeUp(count: number): Generator<readonly Step[]> {
  const source = numbers(39);
  const next = (below: number): number => Math.floor(((source.next().value as number) / 2 ** 31) * below);
  for (let made = 0; made < count; made++)
    yield [TASK, ...Array.from({ length: next(9) }, () => PARTS[next(PARTS.length)] as Step)];
}

describe("over made-up sessions", () => {
  it("an outcome always has evidence", () => {
    for (const steps of madeUp(500)) if (judged(steps) !== "unknown") expect(shown(steps)).not.toEqual([]);
    expect(judge([])).toBe("unknown");
  });

  it("a step that has nothing to do with it, at the beginning, changes nothing", () => {
    const irrelevant = call("Read", { file_path: "README.md" }, "# Shop");
    for (const [first, ...rest] of madeUp(500))
      expect(judged([first as Step, irrelevant, ...rest, DONE])).toBe(judged([first as Step, ...rest, DONE]));
  });

  it("the person's last words outweigh all other evidence together", () => {
    for (const steps of madeUp(500)) {
      expect(judged([...steps, says("user", "Still broken.")])).toBe("failure");
      expect(judged([...steps, DONE, says("user", "Thanks!")])).toBe("success");
    }
  });
});

it("evidence weighs the same in any order and however often", () => {
  const all = EVIDENCE_KINDS.map((kind): Evidence => ({ kind, what: kind }));
  for (const [at, one] of all.entries())
    for (const other of all.slice(at + 1)) expect(judge([one, other])).toBe(judge([other, one, other]));
});

it.each(["success", "failure"] as const)("what a file or a person says (%s) goes before any evidence", (outcome) => {
  for (const other of ["success", "failure", "unknown"] as const)
    expect(endingOf({ outcome, judged: { outcome: other, evidence: [] } })).toBe(outcome);
});

it("what is judged is marked, and what nobody judges is unknown", () => {
  expect(endingOf({ outcome: "unknown", judged: { outcome: "failure", evidence: [] } })).toBe("failure (judged)");
  expect(endingOf({ outcome: "unknown" })).toBe("unknown");
});

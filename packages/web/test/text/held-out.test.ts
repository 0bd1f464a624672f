import type { HeldOutProof } from "@imprint/contracts";
import { expect, test } from "vitest";
import { hasRisen, heldOutChange, heldOutText, warningOf } from "../../src/text/held-out.js";

const proof = (loss_after: number, interval: [number, number]): HeldOutProof => ({
  tokens: 900,
  loss_before: 2,
  loss_after,
  interval,
});

test("a held-out loss is told before and after, with the interval of its change and what it was measured on", () => {
  expect(heldOutChange(proof(1.8, [-0.3, -0.1]))).toBe(
    "2 → 1.8  (−10.0 %; 95 % interval −0.3 to −0.1) over 900 supervised tokens",
  );
});

test.each([
  [1.8, [-0.3, -0.1], false, null],
  [2, [-0.1, 0.1], false, null],
  [2.1, [-0.1, 0.3], true, /may be chance/],
  [2.4, [0.2, 0.6], true, /makes the model worse on work that it was not trained on$/],
] as const)("after %s the warning is as certain as the interval %j", (after, [low, high], risen, sentence) => {
  const told = proof(after, [low, high]);
  expect(hasRisen(told)).toBe(risen);
  if (sentence) expect(warningOf(told)).toMatch(sentence);
});

test("what is held out is counted and its sessions are named, the first of many", () => {
  const plan = (sessions: string[], whole = true) => ({ sessions, whole, windows: 2, tokens: 4000, supervised_tokens: 1200 });
  expect(heldOutText(plan(["s9"]))).toBe("1,200 supervised tokens in 2 windows of s9");
  expect(heldOutText(plan(["s9"], false))).toBe("1,200 supervised tokens in 2 windows of the last part of s9");
  const many = Array.from({ length: 12 }, (_, at) => `s${at}`);
  expect(heldOutText(plan(many))).toMatch(/of s0, s1, s2, s3, s4 and 7 more$/);
  expect(heldOutText(null)).toMatch(/^nothing/);
});

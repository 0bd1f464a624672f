import type { Proof } from "@imprint/contracts";
import { expect, test } from "vitest";
import { sentenceOf, toneOf } from "../../src/text/verdict.js";

const proof: Proof = {
  supervised_tokens: 120,
  loss_before: 2.5,
  loss_after: 0.4,
  neutral_loss_before: 3.1,
  neutral_loss_after: 3.2,
  held_out: null,
  keys_expected: 4,
  keys_matched: 4,
  update_norm: 0.75,
  accepted_by: { peft: true, vllm: true, llama_cpp: true },
  remarks: [],
};

const heldOut = (loss_after: number, interval: [number, number]): Proof["held_out"] => ({
  tokens: 900,
  loss_before: 2,
  loss_after,
  interval,
});

test.each([
  [{}, "good", /^It learned the session .*−84 %.* and kept what the base model knew/],
  [{ neutral_loss_after: 4 }, "bad", /costs neutral text more than 10 % \(loss 2.5 → 0.4, −84 %; neutral text 3.1 → 4, \+29 %\)/],
  [{ held_out: heldOut(1.8, [-0.3, -0.1]) }, "good", /and kept what the base model knew/],
  [{ held_out: heldOut(2.1, [-0.1, 0.3]) }, "doubtful", /, but the held-out loss rose 2 → 2.1, \+5.0 %: that may be chance/],
  [{ held_out: heldOut(2.4, [0.2, 0.6]) }, "doubtful", /rose 2 → 2.4, \+20 %: it makes the model worse on work that/],
  [{ held_out: heldOut(2.4, [0.2, 0.6]), loss_after: 2.6 }, "bad", /worse on its own text/],
  [{ loss_after: 2.45 }, "doubtful", /hardly learned/],
  [{ loss_after: 2.6 }, "bad", /makes the model worse on its own text/],
  [{ keys_matched: 3 }, "bad", /Only 3 of 4 tensors/],
] as const)("a proof with %j is %s", (changes, tone, sentence) => {
  expect(toneOf({ ...proof, ...changes })).toBe(tone);
  expect(sentenceOf({ ...proof, ...changes })).toMatch(sentence);
});

import { expect, test } from "vitest";
import { trialsSentence } from "../../src/train/trials-sentence.js";

test.each([
  [{}, "1 trial: write several ranks, learning rates, alphas or epochs, and each combination is one."],
  [{ rank: [8] }, "1 trial: write several ranks, learning rates, alphas or epochs, and each combination is one."],
  [
    { rank: [8, 16, 32], learning_rate: [1e-4, 3e-4] },
    "6 trials: 3 ranks × 2 learning rates; the worse half is stopped on the way.",
  ],
  [
    { rank: [8, 16, 32], epochs: [1, 2], trials: 4, early_stopping: "none" as const },
    "4 trials, drawn from 6 combinations: 3 ranks × 2 numbers of epochs; all are trained to their end.",
  ],
  [{ rank: [8, 16], trials: "many" as never }, "2 trials: 2 ranks; the worse half is stopped on the way."],
])("%j", (request, sentence) => {
  expect(trialsSentence({ session_id: "s", ...request })).toBe(sentence);
});

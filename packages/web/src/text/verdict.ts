import type { Proof } from "@imprint/contracts";
import { change, short } from "./numbers.js";

export interface Verdict {
  readonly tone: "good" | "doubtful" | "bad";
  readonly sentence: string;
}

/** More than this much worse on text that has nothing to do with the session is worth a warning. */
const FORGETTING = 0.1;
/** Less than this much better is hardly learning. */
const LEARNING = 0.05;

/** A proof in one sentence: what was learned, and at what price. */
export function verdictOf(proof: Proof): Verdict {
  const learned = 1 - proof.loss_after / proof.loss_before;
  const forgotten = proof.neutral_loss_after / proof.neutral_loss_before - 1;
  const from = `loss ${short(proof.loss_before)} → ${short(proof.loss_after)}, ${change(proof.loss_before, proof.loss_after)}`;
  if (proof.keys_matched < proof.keys_expected)
    return { tone: "bad", sentence: `Only ${proof.keys_matched} of ${proof.keys_expected} tensors fit the base model.` };
  if (learned <= 0) return { tone: "bad", sentence: `It learned nothing of the session (${from}).` };
  if (learned < LEARNING) return { tone: "doubtful", sentence: `It hardly learned the session (${from}).` };
  if (forgotten > FORGETTING) {
    const worse = change(proof.neutral_loss_before, proof.neutral_loss_after);
    return {
      tone: "doubtful",
      sentence: `It learned the session (${from}), and forgot some of what the base model knew (${worse}).`,
    };
  }
  return { tone: "good", sentence: `It learned the session (${from}) and kept what the base model knew.` };
}

import { change, type EvaluationVerdict, harmsOf, type Proof, type Verdict, verdictOf } from "@imprint/contracts";
import { hasRisen, warningOf } from "./held-out.js";
import { short } from "./numbers.js";

export type Tone = "good" | "doubtful" | "bad";

const TONES: Readonly<Record<Verdict, Tone>> = { learned: "good", hardly_learned: "doubtful", harms: "bad" };

export const EVALUATION_TONES: Readonly<Record<EvaluationVerdict, Tone>> = {
  helps: "good",
  no_evidence: "doubtful",
  too_little_to_tell: "doubtful",
  harms: "bad",
};

const fits = ({ keys_matched, keys_expected }: Proof): boolean => keys_matched === keys_expected;

/** What it learned is doubtful where it made the text that was held out less likely. */
export function toneOf(proof: Proof): Tone {
  if (!fits(proof)) return "bad";
  const tone = TONES[verdictOf(proof)];
  return tone === "good" && proof.held_out && hasRisen(proof.held_out) ? "doubtful" : tone;
}

/** A proof's verdict in one sentence: what was learned, and at what price. */
export function sentenceOf(proof: Proof): string {
  if (!fits(proof)) return `Only ${proof.keys_matched} of ${proof.keys_expected} tensors fit the base model.`;
  const row = (name: string, before: number, after: number): string =>
    `${name} ${short(before)} → ${short(after)}, ${change(before, after)}`;
  const own = row("loss", proof.loss_before, proof.loss_after);
  switch (verdictOf(proof)) {
    case "harms":
      return `It ${harmsOf(proof).join(" and ")} (${own}; ${row("neutral text", proof.neutral_loss_before, proof.neutral_loss_after)}).`;
    case "hardly_learned":
      return `It hardly learned the session (${own}).`;
    case "learned":
      return proof.held_out && hasRisen(proof.held_out)
        ? `It learned the session (${own}), but the ${row("held-out loss rose", proof.held_out.loss_before, proof.held_out.loss_after)}: ${warningOf(proof.held_out)}.`
        : `It learned the session (${own}) and kept what the base model knew.`;
  }
}

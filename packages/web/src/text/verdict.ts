import { change, harmsOf, type Proof, type Verdict, verdictOf } from "@imprint/contracts";
import { short } from "./numbers.js";

export type Tone = "good" | "doubtful" | "bad";

const TONES: Readonly<Record<Verdict, Tone>> = { learned: "good", hardly_learned: "doubtful", harms: "bad" };

const fits = ({ keys_matched, keys_expected }: Proof): boolean => keys_matched === keys_expected;

export const toneOf = (proof: Proof): Tone => (fits(proof) ? TONES[verdictOf(proof)] : "bad");

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
      return `It learned the session (${own}) and kept what the base model knew.`;
  }
}

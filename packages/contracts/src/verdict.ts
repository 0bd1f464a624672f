import type { Static } from "typebox";
import { OneOf } from "./object.js";
import type { Proof } from "./training.js";

/** Neutral text may lose so much, as a share of its loss without the adapter. */
export const NEUTRAL_LIMIT = 0.1;
/** An adapter that gains less than this on its own text has hardly learned it. */
const LEARNING = 0.05;

/** Of an adapter, by its proof: one that harms is registered only where `keep_harmful` asks for it. */
export const Verdict = OneOf(["learned", "hardly_learned", "harms"]);
export type Verdict = Static<typeof Verdict>;

/** How much `after` differs from `before`, signed, in per cent. */
export function change(before: number, after: number): string {
  if (before === 0) return "";
  const percent = ((after - before) / Math.abs(before)) * 100;
  const digits = Math.abs(percent) < 10 ? 1 : 0;
  const rounded = Number(percent.toFixed(digits)) || 0;
  return `${rounded > 0 ? "+" : rounded < 0 ? "−" : "±"}${Math.abs(rounded).toFixed(digits)} %`;
}

/** What an adapter does to the model that it harms, each the end of a sentence; none where it does not. A loss that is no number harms. */
export function harmsOf(proof: Proof): readonly string[] {
  const learned = proof.loss_after <= proof.loss_before;
  const remembered = proof.neutral_loss_after <= proof.neutral_loss_before * (1 + NEUTRAL_LIMIT);
  const { helps, tried } = proof.imprint?.calibration ?? { helps: true, tried: [] };
  return [
    ...(helps ? [] : [`helps at none of the ${tried.length} scales that were tried`]),
    ...(learned ? [] : ["makes the model worse on its own text"]),
    ...(remembered ? [] : [`costs neutral text more than ${NEUTRAL_LIMIT * 100} %`]),
  ];
}

/** What a proof says of its adapter. */
export function verdictOf(proof: Proof): Verdict {
  if (harmsOf(proof).length > 0) return "harms";
  return proof.loss_after <= proof.loss_before * (1 - LEARNING) ? "learned" : "hardly_learned";
}

/** Whether any measure says that the model is worse with the adapter: nowhere has such a one a tick. */
export const isWorse = (proof: Proof): boolean =>
  verdictOf(proof) === "harms" || (proof.held_out !== null && proof.held_out.interval[0] > 0);

/** The verdict that an adapter harms, in a sentence with the figures. Losses in nats per token. */
export function harmSentence(proof: Proof): string {
  const row = (name: string, before: number, after: number): string =>
    `${name} ${before.toFixed(3)} → ${after.toFixed(3)} (${change(before, after)})`;
  const own = row("own text", proof.loss_before, proof.loss_after);
  const neutral = row("neutral text", proof.neutral_loss_before, proof.neutral_loss_after);
  return `The adapter ${harmsOf(proof).join(" and ")}: ${own}, ${neutral}.`;
}

import { type Static, Type } from "typebox";
import { Strict } from "./object.js";

const Characters = Type.Integer({ minimum: 0 });

/** How much of its session an imprint read. `kinds`: what people and agent wrote, commands, errors and so on, each with its share. */
export const Coverage = Strict({
  characters: Characters,
  characters_read: Characters,
  kinds: Type.Array(Strict({ kind: Type.String(), characters: Characters, characters_read: Characters })),
  tokens: Type.Integer({ minimum: 1, description: "Of what was read" }),
  chunks: Type.Integer({ minimum: 1, description: "That it was read in" }),
});
export type Coverage = Static<typeof Coverage>;

/**
 * Losses at one scale of a generated update, in nats per token. `loss`: of each half of what was read, with the update of the
 * other half; where so little was read that halves say nothing, of the session's own text with all of it. Null: not measured, or no
 * number. `neutral`: of the texts up to the first that rises too much; of none where a larger scale was within the bounds.
 */
export const TriedScale = Strict({
  scale: Type.Number({ exclusiveMinimum: 0 }),
  loss: Type.Union([Type.Number(), Type.Null()]),
  neutral: Type.Array(Strict({ name: Type.String(), loss: Type.Number() })),
});
export type TriedScale = Static<typeof TriedScale>;

/** How the scale of an imprint was chosen. `helps` false: at none of these does it help, and it has the smallest. */
export const Calibration = Strict({ helps: Type.Boolean(), tried: Type.Array(TriedScale, { minItems: 1 }) });
export type Calibration = Static<typeof Calibration>;

/** What holds of an adapter that a hypernetwork made. */
export const ImprintProof = Strict({
  scale: Type.Number({ exclusiveMinimum: 0, description: "Factor on the generated update" }),
  /** Null: the request named the scale. */
  calibration: Type.Union([Calibration, Type.Null()]),
  coverage: Coverage,
  neutral: Type.Array(Strict({ name: Type.String(), loss_before: Type.Number(), loss_after: Type.Number() }), { minItems: 1 }),
});
export type ImprintProof = Static<typeof ImprintProof>;

/** The scale and how it came about, for people. */
export function scaleText({ scale, calibration }: ImprintProof): string {
  if (calibration === null) return `${scale}, as asked`;
  const { helps, tried } = calibration;
  return helps
    ? `${scale}, chosen of ${tried.length} that were tried`
    : `${scale}, the smallest: it helps at none of ${tried.length}`;
}

/** How much of the session was read, and how much of each kind, for people. */
export function coverageText({ coverage }: ImprintProof): string {
  const share = (one: { readonly characters: number; readonly characters_read: number }): string =>
    `${Math.floor((100 * one.characters_read) / Math.max(1, one.characters))} %`;
  const kinds = coverage.kinds.map((one) => `${one.kind} ${share(one)}`).join(", ");
  return `${share(coverage)} of ${coverage.characters} characters (${kinds}), as ${coverage.tokens} tokens in ${coverage.chunks} chunks`;
}

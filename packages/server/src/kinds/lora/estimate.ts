import type { Preview, PreviewReport } from "@imprint/contracts";
import type { Transaction } from "../../storage/schema.js";

type Estimate = Pick<PreviewReport, "estimated_seconds" | "estimate">;

/** A step reads a token forwards and backwards, which is three times the work of reading it forwards alone. */
const FORWARD = 1 / 3;

/** What a training reads: its windows in each epoch, and what is held out before the first and after each. */
export const tokensOf = ({ tokens, max_tokens, held_out }: Pick<Preview, "tokens" | "max_tokens" | "held_out">): number =>
  max_tokens + FORWARD * (held_out?.tokens ?? 0) * (max_tokens / Math.max(tokens, 1) + 1);

export const medianOf = (speeds: readonly number[]): number | null =>
  speeds.toSorted((left, right) => left - right)[Math.floor(speeds.length / 2)] ?? null;

/** How long a training of `tokens` may take, from the speeds of earlier trainings of the base model on this machine. */
export const estimateTime = ({
  tokens,
  speeds,
  baseModel,
}: {
  readonly tokens: number;
  readonly speeds: readonly number[];
  readonly baseModel: string;
}): Estimate => {
  const median = medianOf(speeds);
  if (median === null)
    return {
      estimated_seconds: null,
      estimate: `No training of ${baseModel} has finished on this machine yet: the time is known after the first.`,
    };
  const trainings = speeds.length === 1 ? "the last training" : `the last ${speeds.length} trainings`;
  return {
    estimated_seconds: tokens / median,
    estimate: `At most, for training alone, at the ${Math.round(median)} tokens/s of ${trainings} of ${baseModel} on this machine.`,
  };
};

/** Trainings that an estimate looks back on. */
const KEPT = 5;

export interface Trained {
  readonly base_model: string;
  readonly quantization: string;
}

export const recordSpeed = async (
  db: Transaction,
  { base_model, quantization, tokens_per_second }: Trained & { readonly tokens_per_second: number },
): Promise<void> => {
  await db.insertInto("training_speeds").values({ base_model, quantization, tokens_per_second }).execute();
};

/** Speeds of the last trainings in tokens a second, the newest first. */
export const lastSpeeds = async (db: Transaction, { base_model, quantization }: Trained): Promise<readonly number[]> => {
  const rows = await db
    .selectFrom("training_speeds")
    .select("tokens_per_second")
    .where("base_model", "=", base_model)
    .where("quantization", "=", quantization)
    .orderBy("seq", "desc")
    .limit(KEPT)
    .execute();
  return rows.map((row) => row.tokens_per_second);
};

import type { Transaction } from "../../storage/schema.js";

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

import { join } from "node:path";
import { Type } from "typebox";
import { readRecord } from "../../storage/durable.js";

/** What evaluations read of training.json; the file holds much more. */
const Record = Type.Object({
  plan: Type.Object({ held_out: Type.Object({ sessions: Type.Array(Type.String()), whole: Type.Literal(true) }) }),
  sweep: Type.Optional(Type.Unknown()),
});

export interface HeldOut {
  /** Of which the training saw nothing. */
  readonly sessions: ReadonlySet<string>;
  /** Whether a sweep chose the adapter among others by them: the lowest of many losses is in part luck. */
  readonly chose: boolean;
}

export const NOTHING_HELD_OUT: HeldOut = { sessions: new Set(), chose: false };

/** Sessions that the training of the adapter in `folder` held out whole, by its training.json. */
export const readHeldOut = async (folder: string): Promise<HeldOut> => {
  const record = await readRecord(Record, join(folder, "training.json"));
  if (record === null) return NOTHING_HELD_OUT;
  return { sessions: new Set(record.plan.held_out.sessions), chose: record.sweep !== undefined };
};

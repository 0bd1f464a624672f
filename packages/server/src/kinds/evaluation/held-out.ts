import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { Type } from "typebox";
import { matches } from "../../common/matches.js";

/** What evaluations read of training.json; the file holds much more. */
const Record = Type.Object({
  sessions: Type.Array(Type.Object({ session_id: Type.String() })),
  plan: Type.Object({ held_out: Type.Object({ sessions: Type.Array(Type.String()) }) }),
});

/** Sessions that a training held out: as a whole, or the last part of the only one. */
export interface HeldOut {
  readonly whole: ReadonlySet<string>;
  readonly part: ReadonlySet<string>;
}

/** What the training of the adapter in `folder` held out, by its training.json. */
export const readHeldOut = async (folder: string): Promise<HeldOut> => {
  const record: unknown = await readFile(join(folder, "training.json"), "utf8").then(JSON.parse, () => null);
  if (!matches(Record, record)) return { whole: new Set(), part: new Set() };
  const ids = new Set(record.plan.held_out.sessions);
  const isPart = record.sessions.every(({ session_id }) => ids.has(session_id));
  return isPart ? { whole: new Set(), part: ids } : { whole: ids, part: new Set() };
};

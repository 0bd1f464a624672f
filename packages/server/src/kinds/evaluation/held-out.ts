import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { Type } from "typebox";
import { matches } from "../../common/matches.js";

/** What evaluations read of training.json; the file holds much more. */
const Record = Type.Object({
  sessions: Type.Array(Type.Object({ session_id: Type.String() })),
  plan: Type.Object({ held_out: Type.Object({ sessions: Type.Array(Type.String()) }) }),
});

/** Sessions that the training of the adapter in `folder` held out as a whole, by its training.json: of a single one, only a part is. */
export const readHeldOut = async (folder: string): Promise<ReadonlySet<string>> => {
  const record: unknown = await readFile(join(folder, "training.json"), "utf8").then(JSON.parse, () => null);
  if (!matches(Record, record)) return new Set();
  const ids = new Set(record.plan.held_out.sessions);
  return record.sessions.every(({ session_id }) => ids.has(session_id)) ? new Set() : ids;
};

import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { Type } from "typebox";
import { matches } from "../../common/matches.js";

/** What evaluations read of training.json; the file holds much more. */
const Record = Type.Object({
  plan: Type.Object({ held_out: Type.Object({ sessions: Type.Array(Type.String()), whole: Type.Literal(true) }) }),
});

/** Sessions of which the training of the adapter in `folder` saw nothing, by its training.json. */
export const readHeldOut = async (folder: string): Promise<ReadonlySet<string>> => {
  const record: unknown = await readFile(join(folder, "training.json"), "utf8").then(JSON.parse, () => null);
  return new Set(matches(Record, record) ? record.plan.held_out.sessions : []);
};

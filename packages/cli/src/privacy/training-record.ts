import { readdir, readFile, stat } from "node:fs/promises";
import path from "node:path";
import { AdapterId, SessionId, Sha256, TrainLoraSpec } from "@imprint/contracts";
import { fieldErrors } from "@imprint/contracts/fields";
import { type Static, Type } from "typebox";
import { CommandError } from "../errors.js";
import { LATEST, pick } from "../ids/pick.js";

const { properties: spec } = TrainLoraSpec;

/** What an adapter's training.json says of how it was made, as far as it is needed to do it again. */
export const TrainingRecord = Type.Object({
  method: Type.Literal("lora"),
  task_type: spec.task_type,
  sessions: Type.Array(Type.Object({ session_id: SessionId, sha256: Sha256 }), { minItems: 1 }),
  selection: Type.Object({
    train_on: spec.train_on,
    reasoning: spec.reasoning,
    include_unsuccessful: spec.include_unsuccessful,
    holdout: Type.Optional(spec.holdout),
  }),
  config: Type.Object({
    profile: Type.Optional(spec.profile),
    seed: spec.seed,
    epochs: spec.epochs,
    rank: spec.rank,
    alpha: spec.alpha,
    learning_rate: spec.learning_rate,
    target_modules: spec.target_modules,
    max_length: spec.max_length,
    quantization: spec.quantization,
  }),
  base_model: Type.Object({ name: Type.String() }),
});
export type TrainingRecord = Static<typeof TrainingRecord>;

const ID = new RegExp((AdapterId as unknown as { readonly pattern: string }).pattern);
const FILE = "training.json";

const textAt = async (file: string): Promise<string | null> => {
  try {
    return await readFile(file, "utf8");
  } catch {
    return null;
  }
};

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
};

/** The adapter in the folder that is meant by the beginning of its id, or by `latest`. */
async function begun(given: string, folder: string): Promise<string | null> {
  const ids = await readdir(folder).catch((): string[] => []);
  const found = pick(given, ids);
  if (found !== null || given !== LATEST) return found;
  const made = await Promise.all(ids.map(async (id) => ({ id, at: (await stat(path.join(folder, id))).mtimeMs })));
  return made.toSorted((left, right) => right.at - left.at)[0]?.id ?? null;
}

/** The record of an adapter, which is given by its id, the beginning of it, `latest`, or its folder. Throws a CommandError that says what to do. */
export async function readTrainingRecord(adapter: string, adaptersFolder: string): Promise<TrainingRecord> {
  const registered = ID.test(adapter) ? await textAt(path.join(adaptersFolder, adapter, FILE)) : null;
  const named = registered ?? (await textAt(path.join(adapter, FILE)));
  const id = named === null ? await begun(adapter, adaptersFolder) : null;
  const text = id === null ? named : await textAt(path.join(adaptersFolder, id, FILE));
  if (text === null)
    throw new CommandError(
      `${adapter} is neither the id of an adapter in ${adaptersFolder} nor a folder with a ${FILE}: imprint adapters lists the ids.`,
      "ADAPTER_NOT_FOUND",
    );
  const record = parsed(text);
  if (typeof record === "object" && record !== null && "method" in record && record.method === "hypernetwork")
    throw new CommandError(`${adapter} was made in one pass by a hypernetwork: name an adapter that imprint train made.`);
  const [fault] = fieldErrors(TrainingRecord, record);
  if (fault !== undefined)
    throw new CommandError(
      `${FILE} of ${adapter} cannot be used, ${fault.path} ${fault.message}: train the adapter again.`,
      "ADAPTER_INVALID",
    );
  return record as TrainingRecord;
}

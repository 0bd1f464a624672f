import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { KeepHarmful, Metadata, SessionId, Strict, TrainLoraSpec } from "@imprint/contracts";
import { fieldErrors } from "@imprint/contracts/fields";
import { type TProperties, Type } from "typebox";
import { ImprintError } from "../../../common/error.js";
import { writeAtomically } from "../../../storage/durable.js";
import type { ResolvedLora } from "../resolve.js";

const FILE = "request.json";
/** Stepped when a field that is stored comes to mean something else. */
export const VERSION = 1;

/** Fields of a task that are another's when a training goes on: where files lie, and what was unreadable then. */
const OF_TASK: ReadonlySet<string> = new Set(["session_paths", "unreadable", "output_dir", "base_model_name", "checkpoint"]);

/** What a checkpoint folder says of the job that left it, by its spec: job records are lost with the process, these are not. */
export const storedFields = (spec: TProperties): TProperties => ({
  ...Object.fromEntries(Object.entries(spec).filter(([name]) => !OF_TASK.has(name))),
  session_id: SessionId,
  metadata: Metadata,
  keep_harmful: KeepHarmful,
});

export const FIELDS = storedFields(TrainLoraSpec.properties);

/** By field, with which value a training goes on whose request was stored before the field was there: as it began. */
const BEFORE: Partial<ResolvedLora> = { keep_harmful: false, profile: "remember", holdout: "none" };

const invalid = (what: string, cause?: unknown): ImprintError =>
  new ImprintError("CHECKPOINT_INVALID", `The checkpoint's ${FILE} ${what}.`, { cause });

const parse = async (folder: string): Promise<{ readonly version?: unknown; readonly request?: object }> => {
  try {
    return Object(JSON.parse(await readFile(join(folder, FILE), "utf8")));
  } catch (cause) {
    throw invalid("cannot be read", cause);
  }
};

export const writeRequest = (folder: string, request: object): Promise<void> =>
  writeAtomically(join(folder, FILE), `${JSON.stringify({ version: VERSION, request }, null, 2)}\n`);

/** How requests of these fields are read, where `before` is what those lack that were stored earlier. */
export const requestReader = <Request = ResolvedLora>(fields: TProperties, before: object) => {
  const schema = Strict({ version: Type.Literal(VERSION), request: Strict(fields) });
  return async (folder: string): Promise<Request> => {
    const stored = await parse(folder);
    if (stored.version !== VERSION)
      throw invalid(`is of version ${String(stored.version).slice(0, 20)}; this Imprint reads ${VERSION}`);
    const file = { ...stored, request: { ...before, ...stored.request } };
    const [fault] = fieldErrors(schema, file);
    if (fault) throw invalid(`cannot be used: ${fault.path.slice(1).replaceAll("/", ".")} ${fault.message}`);
    return file.request as Request;
  };
};

/** @throws ImprintError CHECKPOINT_INVALID */
export const readRequest = requestReader(FIELDS, BEFORE);

import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { KeepHarmful, Metadata, SessionId, Strict, TrainLoraSpec } from "@imprint/contracts";
import { Type } from "typebox";
import { ImprintError } from "../../common/error.js";
import { matches } from "../../common/matches.js";
import { writeAtomically } from "../../storage/durable.js";
import type { ResolvedLora } from "../resolve.js";

const FILE = "request.json";
const VERSION = 1;

const {
  session_paths: _paths,
  unreadable: _unreadable,
  output_dir: _out,
  base_model_name: _name,
  checkpoint: _kept,
  ...decided
} = TrainLoraSpec.properties;

/** What a checkpoint folder says of the job that left it: job records are lost with the process, these are not. */
const RequestFile = Strict({
  version: Type.Literal(VERSION),
  request: Strict({ ...decided, session_id: SessionId, metadata: Metadata, keep_harmful: Type.Optional(KeepHarmful) }),
});

export const writeRequest = (folder: string, request: ResolvedLora): Promise<void> =>
  writeAtomically(join(folder, FILE), `${JSON.stringify({ version: VERSION, request }, null, 2)}\n`);

/** @throws ImprintError CHECKPOINT_INVALID */
export const readRequest = async (folder: string): Promise<ResolvedLora> => {
  try {
    const value: unknown = JSON.parse(await readFile(join(folder, FILE), "utf8"));
    if (matches(RequestFile, value)) return { keep_harmful: false, ...value.request };
  } catch (cause) {
    throw new ImprintError("CHECKPOINT_INVALID", `The checkpoint's ${FILE} cannot be read.`, { cause });
  }
  throw new ImprintError("CHECKPOINT_INVALID", `The checkpoint's ${FILE} was changed, or another version of Imprint wrote it.`);
};

import { readdir, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { type AdapterFile, Evaluation, type EvaluationResult } from "@imprint/contracts";
import { ImprintError, isMissing } from "../common/error.js";
import { putInPlace, readRecord, syncPath } from "../storage/durable.js";
import type { DataPaths } from "../storage/paths.js";
import type { Database, Transaction } from "../storage/schema.js";
import { inTransaction } from "../storage/transaction.js";
import { type AdapterRow, findAdapter, recordOf } from "./adapters.js";
import { changingFiles, homeOf } from "./health.js";
import { sameFiles, syncFolder } from "./publish.js";
import { hashFolder } from "./validate/folder.js";
import { hashFile } from "./validate/hash.js";
import { InvalidAdapterError } from "./validate/invalid.js";

const FILE = "evaluation.json";
/** What an evaluation leaves: its own file, and the adapter's card with its verdict. */
const FILES = ["README.md", FILE];

const readEvaluation = (folder: string): Promise<Evaluation | null> => readRecord(Evaluation, join(folder, FILE));

/** The last evaluation of an adapter; null where there is none that can be read. */
export const findEvaluation = async (paths: DataPaths, adapter: AdapterRow): Promise<Evaluation | null> =>
  adapter.evaluation && readEvaluation(homeOf(paths, adapter));

/** @throws InvalidAdapterError when the files are not those of the evaluation that the trainer reported */
export const checkEvaluation = async (folder: string, { adapter_id }: AdapterRow, result: EvaluationResult): Promise<void> => {
  const files = await hashFolder(folder, { again: true });
  if (!sameFiles(files, result.files)) throw new InvalidAdapterError("the files differ from those that the trainer reported");
  if (!isDeepStrictEqual(files.map(({ name }) => name).sort(), FILES))
    throw new InvalidAdapterError(`an evaluation leaves ${FILES.join(" and ")}`);
  if (!isDeepStrictEqual(await readEvaluation(folder), result.evaluation) || result.evaluation.adapter_id !== adapter_id)
    throw new InvalidAdapterError(`${FILE} is not what the trainer reported`);
};

interface Settling {
  readonly paths: DataPaths;
  readonly ready: string;
  /** Gets what puts the file back that stood in the place of each. */
  readonly undo?: (() => Promise<void>)[];
}

/** Brings what is left in `ready` beside the adapter's proof, and records what lies there. Can be repeated. */
const settle = async (db: Transaction, adapter: AdapterRow, { paths, ready, undo = [] }: Settling) => {
  const home = homeOf(paths, adapter);
  const left = await readdir(ready);
  for (const name of FILES.filter((one) => left.includes(one))) undo.push(await putInPlace(join(ready, name), join(home, name)));
  await syncPath(home, { folder: true });
  const evaluation = await readEvaluation(home);
  const replaced: AdapterFile[] = [];
  for (const name of FILES) {
    const { size, sha256 } = await hashFile(join(home, name));
    replaced.push({ name, size, sha256 });
  }
  const kept = adapter.files.filter(({ name }) => !FILES.includes(name));
  const created_at = (await stat(join(home, FILE))).mtime.toISOString();
  await recordOf(db, adapter.adapter_id, {
    files: [...kept, ...replaced].sort((a, b) => (a.name < b.name ? -1 : 1)),
    evaluation: evaluation && { verdict: evaluation.verdict, sentence: evaluation.sentence, created_at },
  });
};

/**
 * Puts a checked evaluation beside the proof of its adapter, in the place of the one before. From the first rename on it is there:
 * what a crash interrupts, `settleEvaluations` ends. Where the row cannot be written, as on a full disk, the adapter's files are as they were.
 * @throws ImprintError ADAPTER_NOT_FOUND for an adapter that was archived meanwhile
 */
export const attachEvaluation = async ({
  database,
  paths,
  adapterId,
  folder,
  beforeCommit,
}: {
  readonly database: Database;
  readonly paths: DataPaths;
  readonly adapterId: string;
  readonly folder: string;
  readonly beforeCommit: () => void;
}): Promise<void> => {
  await syncFolder(
    folder,
    FILES.map((name) => ({ name })),
  );
  const ready = join(paths.evaluated, adapterId);
  const undo: (() => Promise<void>)[] = [];
  const attach = async (db: Transaction): Promise<void> => {
    const adapter = await findAdapter(db, adapterId);
    if (!adapter) throw new ImprintError("ADAPTER_NOT_FOUND", `There is no adapter ${adapterId} any more.`);
    beforeCommit();
    await rm(ready, { recursive: true, force: true });
    await rename(folder, ready);
    await syncPath(paths.evaluated, { folder: true });
    await settle(db, adapter, { paths, ready, undo });
  };
  await changingFiles([join(paths.adapters, adapterId)], async () => {
    try {
      await inTransaction(database, attach);
    } catch (error) {
      for (const step of undo) await step();
      throw error;
    } finally {
      // What stays is removed by the next evaluation, or the next start.
      await rm(ready, { recursive: true, force: true }).catch(() => undefined);
    }
  });
};

/** Ends what a crash interrupted; what belongs to no adapter any more is removed. */
export const settleEvaluations = async ({
  database,
  paths,
}: {
  readonly database: Database;
  readonly paths: DataPaths;
}): Promise<void> => {
  for (const name of await readdir(paths.evaluated)) {
    const ready = join(paths.evaluated, name);
    await inTransaction(database, async (db) => {
      const adapter = await findAdapter(db, name);
      if (adapter) await settle(db, adapter, { paths, ready });
    }).catch((error: unknown) => {
      if (!isMissing(error)) throw error; // somebody removed the adapter's files
    });
    await rm(ready, { recursive: true, force: true });
  }
};

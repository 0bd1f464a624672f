import { readdir, rename, rm, rmdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { type AdapterFile, Evaluation, type EvaluationResult } from "@imprint/contracts";
import { ImprintError } from "../common/error.js";
import { readRecord, syncPath } from "../storage/durable.js";
import type { DataPaths } from "../storage/paths.js";
import type { Database, Transaction } from "../storage/schema.js";
import { inTransaction } from "../storage/transaction.js";
import { type AdapterRow, findAdapter, recordEvaluation } from "./adapters.js";
import { isMissing } from "./health.js";
import { sameFiles, syncFolder } from "./publish.js";
import { hashFolder } from "./validate/folder.js";
import { hashFile } from "./validate/hash.js";
import { InvalidAdapterError } from "./validate/invalid.js";

const FILE = "evaluation.json";
/** What an evaluation leaves: its own file, and the adapter's card with its verdict. */
const FILES = ["README.md", FILE];

const readEvaluation = (folder: string): Promise<Evaluation | null> => readRecord(Evaluation, join(folder, FILE));

/** The last evaluation of an adapter; null where there is none that can be read. */
export const findEvaluation = async ({ root }: DataPaths, { path, evaluation }: AdapterRow): Promise<Evaluation | null> =>
  evaluation && readEvaluation(join(root, path));

/** @throws InvalidAdapterError when the files are not those of the evaluation that the trainer reported */
export const checkEvaluation = async (folder: string, { adapter_id }: AdapterRow, result: EvaluationResult): Promise<void> => {
  const files = await hashFolder(folder, { again: true });
  if (!sameFiles(files, result.files)) throw new InvalidAdapterError("the files differ from those that the trainer reported");
  if (!isDeepStrictEqual(files.map(({ name }) => name).sort(), FILES))
    throw new InvalidAdapterError(`an evaluation leaves ${FILES.join(" and ")}`);
  if (!isDeepStrictEqual(await readEvaluation(folder), result.evaluation) || result.evaluation.adapter_id !== adapter_id)
    throw new InvalidAdapterError(`${FILE} is not what the trainer reported`);
};

/** None for a folder that is gone: what was in it has arrived. */
const namesIn = (folder: string): Promise<readonly string[]> =>
  readdir(folder).catch((error: unknown) => {
    if (isMissing(error)) return [];
    throw error;
  });

/** Brings what is left in `ready` beside the adapter's proof, and records what lies there. Can be repeated. */
const settle = async (db: Transaction, adapter: AdapterRow, { paths, ready }: { paths: DataPaths; ready: string }) => {
  const home = join(paths.root, adapter.path);
  for (const name of await namesIn(ready)) await rename(join(ready, name), join(home, name));
  await syncPath(home, { folder: true });
  const evaluation = await readEvaluation(home);
  const replaced: AdapterFile[] = [];
  for (const name of FILES) {
    const { size, sha256 } = await hashFile(join(home, name));
    replaced.push({ name, size, sha256 });
  }
  const kept = adapter.files.filter(({ name }) => !FILES.includes(name));
  const created_at = (await stat(join(home, FILE))).mtime.toISOString();
  await recordEvaluation(db, {
    adapterId: adapter.adapter_id,
    files: [...kept, ...replaced].sort((a, b) => (a.name < b.name ? -1 : 1)),
    evaluation: evaluation && { verdict: evaluation.verdict, sentence: evaluation.sentence, created_at },
  });
};

/**
 * Puts a checked evaluation beside the proof of its adapter, in the place of the one before. From the first rename on it is there:
 * what a crash interrupts, `settleEvaluations` ends. One transaction, so that no two change its files at once.
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
  await inTransaction(database, async (db) => {
    const adapter = await findAdapter(db, adapterId);
    if (!adapter) throw new ImprintError("ADAPTER_NOT_FOUND", `There is no adapter ${adapterId} any more.`);
    beforeCommit();
    await rm(ready, { recursive: true, force: true });
    await rename(folder, ready);
    await syncPath(paths.evaluated, { folder: true });
    await settle(db, adapter, { paths, ready });
  });
  // Empty, unless the next evaluation of the adapter is there already.
  await rmdir(ready).catch(() => undefined);
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
    const settled = await inTransaction(database, async (db) => {
      const adapter = await findAdapter(db, name);
      if (adapter) await settle(db, adapter, { paths, ready });
      return adapter !== null;
    }).catch((error: unknown) => {
      if (!isMissing(error)) throw error; // somebody removed the adapter's files
      return false;
    });
    if (settled) await rmdir(ready).catch(() => undefined);
    else await rm(ready, { recursive: true, force: true });
  }
};

import { readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type AdapterFile, harmSentence, type JobResult, type Proof, verdictOf } from "@imprint/contracts";
import { syncPath } from "../storage/durable.js";
import type { DataPaths } from "../storage/paths.js";
import type { Database, Transaction } from "../storage/schema.js";
import { inTransaction } from "../storage/transaction.js";
import { type AdapterRow, insertAdapter } from "./adapters.js";
import { hashFolder, validateFolder, WEIGHTS_FILE } from "./validate/folder.js";
import { InvalidAdapterError } from "./validate/invalid.js";

/** What the registry records about an adapter besides what its files say. */
export type Lineage = Pick<
  AdapterRow,
  "adapter_id" | "method" | "base_model" | "task_type" | "session_id" | "session_ids" | "job_id" | "metadata" | "created_at"
>;

export const sameFiles = (hashed: readonly AdapterFile[], claimed: readonly AdapterFile[]): boolean =>
  hashed.length === claimed.length &&
  hashed.every(({ name, size, sha256 }) =>
    claimed.some((file) => file.name === name && file.size === size && file.sha256 === sha256),
  );

export const syncFolder = async (folder: string, files: readonly Pick<AdapterFile, "name">[]): Promise<void> => {
  for (const { name } of files) await syncPath(join(folder, name));
  await syncPath(folder, { folder: true });
};

/**
 * Takes the files that a trainer left in `folder` into the registry: validated, on the disk, renamed, and only then a row.
 * A crash in between leaves files without a row, which the next start sets aside; never a row without files.
 * An adapter that harms is marked on its card.
 * @throws HarmfulAdapterError when it harms and `keepHarmful` does not say to keep it all the same
 * @throws InvalidAdapterError when the files are not what the trainer claims, or no plain LoRA adapter
 */
export const publishAdapter = async ({
  database,
  paths,
  folder,
  lineage,
  result,
  keepHarmful,
  beforeCommit,
}: {
  readonly database: Database;
  readonly paths: DataPaths;
  readonly folder: string;
  readonly lineage: Lineage;
  readonly result: JobResult;
  readonly keepHarmful: boolean;
  /** Last words in the transaction of the new row. */
  readonly beforeCommit?: (db: Transaction) => void | Promise<void>;
}): Promise<AdapterRow> => {
  const harms = verdictOf(result.proof) === "harms";
  if (harms && !keepHarmful) throw new HarmfulAdapterError(result.proof);
  const made = await hashFolder(folder, { again: true });
  if (!sameFiles(made, result.files)) throw new InvalidAdapterError("the files differ from those that the trainer reported");
  const config = await validateFolder(folder, made);
  if (config.r !== result.rank || config.lora_alpha !== result.alpha)
    throw new InvalidAdapterError("rank or alpha of adapter_config.json differ from those that the trainer reported");
  if (harms) await markCard(folder, result.proof);
  const files = harms ? await hashFolder(folder) : made;
  await syncFolder(folder, files);

  const row: AdapterRow = {
    ...lineage,
    rank: result.rank,
    alpha: result.alpha,
    size: files.reduce((sum, file) => sum + file.size, 0),
    sha256: files.find((file) => file.name === WEIGHTS_FILE)?.sha256 ?? "",
    files: [...files],
    proof: result.proof,
    partial: result.partial ?? null,
    evaluation: null,
    served: null,
    tasks: null,
    path: `adapters/${lineage.adapter_id}`,
  };
  const home = join(paths.adapters, lineage.adapter_id);
  // Fails when a folder of that name is there and not empty: nothing is ever overwritten.
  await rename(folder, home);
  try {
    await syncPath(paths.adapters, { folder: true });
    await inTransaction(database, async (db) => {
      await insertAdapter(db, row);
      await beforeCommit?.(db);
    });
  } catch (error) {
    await rm(home, { recursive: true, force: true });
    throw error;
  }
  return row;
};

const CARD = "README.md";

/** The model is worse with the adapter, and nobody asked to keep it all the same. */
export class HarmfulAdapterError extends Error {
  override readonly name = "HarmfulAdapterError";

  constructor(readonly proof: Proof) {
    super(harmSentence(proof));
  }
}

/** Says on the card of an adapter that harms what its proof says, below the title. */
const markCard = async (folder: string, proof: Proof): Promise<void> => {
  const path = join(folder, CARD);
  const card = await readFile(path, "utf8");
  const mark = `> **This adapter makes the model worse; it was kept on request.** ${harmSentence(proof)}`;
  await writeFile(
    path,
    card.replace(/^# .*$/m, (title) => `${title}\n\n${mark}`),
  );
};

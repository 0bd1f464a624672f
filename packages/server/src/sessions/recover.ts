import { lstat } from "node:fs/promises";
import { ImprintError, nullIfMissing } from "../common/error.js";
import { inTransaction } from "../storage/transaction.js";
import { forgetMarked, forgetSession, idsIndexedBefore, indexedIds } from "./index-table.js";
import { namesInFolder } from "./list.js";
import { isSessionId, sessionPath } from "./session-file.js";
import type { SessionIndex, StoreDeps } from "./session-index.js";

/** What a crash left between the folder and its index. */
export interface Gap {
  readonly withoutRow: readonly string[];
  readonly withoutFile: readonly string[];
  /** Of sessions that an earlier version indexed: their files say more than it asked. */
  readonly old: readonly string[];
}

/** How many of a gap were put right; files that are no sessions stay as they are. */
export interface Recovered {
  readonly adopted: number;
  readonly forgotten: number;
}

/** Looks for a gap. Before anyone imports: the files come first, and their rows would seem to be missing. */
export const findGap = async ({ folder, database }: StoreDeps): Promise<Gap> => {
  const present = await namesInFolder(folder);
  const indexed = await inTransaction(database, async (db) => {
    await forgetMarked(db);
    return indexedIds(db);
  });
  return {
    withoutRow: [...present].filter((id) => isSessionId(id) && !indexed.has(id)),
    withoutFile: [...indexed].filter((id) => !present.has(id)),
    old: (await inTransaction(database, idsIndexedBefore)).filter((id) => present.has(id)),
  };
};

const timeOf = (path: string): Promise<number | null> => lstat(path).then(({ mtimeMs }) => mtimeMs, nullIfMissing);

/** Oldest first, and those of one recording in its order. */
const byTime = async (ids: readonly string[], folder: string): Promise<readonly string[]> => {
  const found: { readonly id: string; readonly time: number }[] = [];
  for (const id of ids) found.push({ id, time: (await timeOf(sessionPath(folder, id))) ?? 0 });
  const inOrder = found.sort((left, right) => left.time - right.time || left.id.localeCompare(right.id, "en", { numeric: true }));
  return inOrder.map(({ id }) => id);
};

/**
 * Indexes files without a row, forgets rows without a file, and reads old ones again, one after the other beside all that is asked
 * meanwhile.
 */
export const closeGap = async (
  { withoutRow, withoutFile, old }: Gap,
  {
    deps: { folder, database, lock, leftovers },
    index,
    signal,
  }: { readonly deps: StoreDeps; readonly index: SessionIndex; readonly signal: AbortSignal },
): Promise<Recovered> => {
  let [adopted, forgotten] = [0, 0];
  for (const id of await byTime(withoutRow, folder)) {
    if (signal.aborted) return { adopted, forgotten };
    try {
      await index.find(id);
      adopted += 1;
    } catch (error) {
      if (!(error instanceof ImprintError)) throw error;
    }
    leftovers.delete(id);
  }
  for (const id of withoutFile) {
    if (signal.aborted) return { adopted, forgotten };
    await lock([id], async () => {
      if ((await timeOf(sessionPath(folder, id))) !== null) return;
      await inTransaction(database, (db) => forgetSession(db, id));
      forgotten += 1;
    });
  }
  for (const id of old) {
    if (signal.aborted) return { adopted, forgotten };
    try {
      await index.find(id);
    } catch (error) {
      if (!(error instanceof ImprintError)) throw error;
    }
  }
  return { adopted, forgotten };
};

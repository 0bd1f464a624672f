import { readdir } from "node:fs/promises";
import type { SessionSummary } from "@imprint/contracts";
import { ImprintError } from "../common/error.js";
import type { Transaction } from "../storage/schema.js";
import { indexedIds, indexedSummaries } from "./index-table.js";
import { isSessionId, readSession } from "./read.js";
import { searchedText, wordsOf } from "./search.js";
import { toSummary } from "./summary.js";

interface ListOptions {
  readonly db: Transaction;
  readonly folder: string;
  readonly fileLimit: number;
  readonly limit: number;
  readonly after?: string | undefined;
  /** Words that a session must have, all of them. */
  readonly search?: string | undefined;
}

const SUFFIX = ".json";

const idsInFolder = async (folder: string): Promise<ReadonlySet<string>> => {
  const names = await readdir(folder);
  return new Set(
    names
      .filter((name) => name.endsWith(SUFFIX))
      .map((name) => name.slice(0, -SUFFIX.length))
      .filter(isSessionId),
  );
};

/** Null for a file that is no session: it is not listed, and training on it says why. */
const summaryOfFile = async (sessionId: string, { folder, fileLimit }: ListOptions): Promise<SessionSummary | null> => {
  try {
    const { session, storedAt } = await readSession({ folder, sessionId, limit: fileLimit });
    return await toSummary(session, storedAt);
  } catch (error) {
    if (error instanceof ImprintError) return null;
    throw error;
  }
};

/** Those of the unindexed files that have the words. One after the other: each has to be read. */
const searchFiles = async (
  ids: readonly string[],
  words: readonly string[],
  options: ListOptions,
): Promise<readonly string[]> => {
  if (words.length === 0) return ids;
  const found: string[] = [];
  for (const id of ids) {
    const summary = await summaryOfFile(id, options);
    const text = summary === null ? "" : searchedText(summary);
    if (words.every((word) => text.includes(word))) found.push(id);
  }
  return found;
};

/**
 * Files that were put there by hand first, in the order of their names; then the imported ones, newest first.
 * The folder says what is there and the index says what it is, so a list opens only files that the index does not know: of those
 * a page, or all for a search.
 */
export const listSessions = async (
  options: ListOptions,
): Promise<{ readonly sessions: readonly SessionSummary[]; readonly next: string | null }> => {
  const { db, folder, limit, after, search = "" } = options;
  const words = wordsOf(search);
  const present = await idsInFolder(folder);
  const indexed = await indexedIds(db);
  const known = new Set(indexed);
  const byHand = [...present].filter((id) => !known.has(id)).sort();
  const found = words.length === 0 ? indexed : await indexedIds(db, words);
  const ids = [...(await searchFiles(byHand, words, options)), ...found.filter((id) => present.has(id))];
  const from = after === undefined ? 0 : ids.indexOf(after) + 1;
  const page = ids.slice(from, from + limit);
  const summaries = await indexedSummaries(
    db,
    page.filter((id) => known.has(id)),
  );
  const sessions = await Promise.all(page.map((id) => summaries.get(id) ?? summaryOfFile(id, options)));
  return {
    sessions: sessions.filter((summary) => summary !== null),
    next: ids.length > from + limit ? (page.at(-1) ?? null) : null,
  };
};

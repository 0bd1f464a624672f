import { readdir } from "node:fs/promises";
import type { SessionList, SessionSummary } from "@imprint/contracts";
import { ImprintError } from "../common/error.js";
import { inTransaction } from "../storage/transaction.js";
import type { Catalogue, Shelf } from "./catalogue.js";
import { findIndexed, importedIds } from "./index-table.js";
import { isSessionId } from "./session-file.js";
import { searchedText, wordsOf } from "./summary.js";

export interface ListQuery {
  readonly limit: number;
  readonly after?: string | undefined;
  /** Words that a session must have, all of them. */
  readonly search?: string | undefined;
  /** What the id begins with. */
  readonly prefix?: string | undefined;
}

const SUFFIX = ".json";

const idsInFolder = async (folder: string, prefix = ""): Promise<ReadonlySet<string>> => {
  const names = await readdir(folder);
  return new Set(
    names
      .filter((name) => name.endsWith(SUFFIX) && name.startsWith(prefix))
      .map((name) => name.slice(0, -SUFFIX.length))
      .filter(isSessionId),
  );
};

/** Null for what is no session: it is not listed, and training on it says why. */
const summaryOf = async (sessionId: string, catalogue: Catalogue): Promise<SessionSummary | null> => {
  try {
    return (await catalogue.find(sessionId)).summary;
  } catch (error) {
    if (error instanceof ImprintError) return null;
    throw error;
  }
};

/** Those of the sessions put there by hand that have the words. One after the other: each may have to be read. */
const searchByHand = async (
  ids: readonly string[],
  words: readonly string[],
  catalogue: Catalogue,
): Promise<readonly string[]> => {
  if (words.length === 0) return ids;
  const found: string[] = [];
  for (const id of ids) {
    const summary = await summaryOf(id, catalogue);
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
  { limit, after, search = "", prefix }: ListQuery,
  {
    shelf: { database, folder },
    catalogue,
  }: { readonly shelf: Pick<Shelf, "database" | "folder">; readonly catalogue: Catalogue },
): Promise<SessionList> => {
  const words = wordsOf(search);
  const present = await idsInFolder(folder, prefix);
  const [imported, found] = await inTransaction(database, async (db) => {
    const all = await importedIds(db, { prefix });
    return [all, words.length === 0 ? all : await importedIds(db, { words, prefix })];
  });
  const known = new Set(imported);
  const byHand = [...present].filter((id) => !known.has(id)).sort();
  const ids = [...(await searchByHand(byHand, words, catalogue)), ...found.filter((id) => present.has(id))];
  const from = after === undefined ? 0 : ids.indexOf(after) + 1;
  const page = ids.slice(from, from + limit);
  const rows = await inTransaction(database, (db) =>
    findIndexed(
      db,
      page.filter((id) => known.has(id)),
    ),
  );
  const sessions = await Promise.all(page.map(async (id) => rows.get(id)?.summary ?? (await summaryOf(id, catalogue))));
  return {
    sessions: sessions.filter((summary) => summary !== null),
    next: ids.length > from + limit ? (page.at(-1) ?? null) : null,
  };
};

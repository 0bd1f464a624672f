import { readdir, stat } from "node:fs/promises";
import type { SessionList, SessionSummary } from "@imprint/contracts";
import { fieldRefused, ImprintError } from "../common/error.js";
import { shared } from "../common/shared.js";
import type { Database } from "../storage/schema.js";
import { inTransaction } from "../storage/transaction.js";
import { type Filter, findIndexed, idsOf, type Place } from "./index-table.js";
import { isSessionId } from "./session-file.js";
import type { SessionIndex, StoreDeps } from "./session-index.js";
import { wordsOf } from "./summary.js";

export interface ListQuery extends Filter {
  readonly limit: number;
  /** The `next` of the page before, or the id of a session that is there. */
  readonly after?: string | undefined;
  /** Words that a session must have, all of them. */
  readonly search?: string | undefined;
}

const SUFFIX = ".json";

/** What files of sessions are called, and perhaps others, without the ending. */
export const namesInFolder = async (folder: string): Promise<Set<string>> => {
  const files = (await readdir(folder)).filter((name) => name.endsWith(SUFFIX));
  return new Set(files.map((name) => name.slice(0, -SUFFIX.length)));
};

/** Milliseconds in which a file system may give two changes one time. */
const TICK = 2000;

/** As `namesInFolder`, which is read again once the folder has changed. */
const createNames = (folder: string): (() => Promise<ReadonlySet<string>>) => {
  let last: { readonly changed: number; readonly names: ReadonlySet<string> } | null = null;
  return async () => {
    const { ctimeMs: changed } = await stat(folder);
    if (last?.changed === changed) return last.names;
    const names = await namesInFolder(folder);
    last = Date.now() - changed > TICK ? { changed, names } : null;
    return names;
  };
};

/** Ids of the sessions that are there: those put there by hand in order, and the imported ones, newest first. */
interface Present {
  readonly names: ReadonlySet<string>;
  readonly byHand: readonly string[];
  readonly imported: readonly string[];
}

/** The folder says what is there, and the index what it is. All who ask meanwhile are told the same. */
export const createPresent = ({ database, folder, arriving }: StoreDeps): (() => Promise<Present>) => {
  const namesNow = createNames(folder);
  return shared(async () => {
    const names = await namesNow();
    const indexed = await inTransaction(database, (db) => idsOf(db, { byHand: false }));
    const imported = indexed.filter((id) => names.has(id));
    const known = new Set(imported);
    const unknown = [...names].filter((id) => !known.has(id) && isSessionId(id) && !arriving.has(id));
    return { names, byHand: unknown.sort(), imported };
  });
};

/** Null for what is no session: it is not listed, and training on it says why. */
const summaryOf = async (sessionId: string, index: SessionIndex): Promise<SessionSummary | null> => {
  try {
    return (await index.find(sessionId)).summary;
  } catch (error) {
    if (error instanceof ImprintError) return null;
    throw error;
  }
};

/** A page's last session, and where it stands: one that is deleted meanwhile, or grows and is the newest, moves no other. */
const cursorOf = (id: string, place: Place | undefined): string => `${id}~${place ? `${place.recordedAt}~${place.seq}` : ""}`;

/** Where a page begins: behind an id of those put there by hand, behind a place of the imported ones, or at the top. */
interface Start {
  readonly byHand?: string;
  readonly imported?: Place;
}

const startOf = async (after: string | undefined, { byHand }: Present, database: Database): Promise<Start> => {
  if (after === undefined) return {};
  const [id = "", recordedAt, seq] = after.split("~");
  if (recordedAt && Number.isSafeInteger(Number(seq))) return { imported: { recordedAt, seq: Number(seq) } };
  if (recordedAt === "" || byHand.includes(id)) return { byHand: id };
  const row = (await inTransaction(database, (db) => findIndexed(db, [id]))).get(id);
  if (!row) throw fieldRefused("after", "names no stored session: send the `next` of the page before");
  return { imported: row.place };
};

/**
 * Files that were put there by hand first, then the imported ones by when they were recorded. A list opens only files that the
 * index does not know: of those a page, or all for a search or a filter.
 */
export const listSessions = async (
  { limit, after, search = "", prefix = "", ...facts }: ListQuery,
  {
    deps: { database },
    present,
    index,
  }: { readonly deps: Pick<StoreDeps, "database">; readonly present: () => Promise<Present>; readonly index: SessionIndex },
): Promise<SessionList> => {
  const all = await present();
  const start = await startOf(after, all, database);
  const filter = { ...facts, words: wordsOf(search), after: start.imported, ...(prefix !== "" && { prefix }) };
  const found = (byHand: boolean) => inTransaction(database, (db) => idsOf(db, { ...filter, byHand }));
  const byHand = start.imported ? [] : all.byHand.filter((id) => id.startsWith(prefix) && id > (start.byHand ?? ""));
  const isNarrow = filter.words.length > 0 || Object.values(facts).some((fact) => fact !== undefined);
  // One after the other, for each may have to be read: the index knows them then.
  for (const id of isNarrow ? byHand : []) await summaryOf(id, index);
  const passed = isNarrow && byHand.length > 0 ? new Set(await found(true)) : null;
  const unknown = byHand.filter((id) => passed?.has(id) ?? true);
  const isWhole = !isNarrow && prefix === "" && !start.imported;
  const imported = isWhole ? all.imported : (await found(false)).filter((id) => all.names.has(id));
  const ids = [...unknown, ...imported];
  const page = ids.slice(0, limit);
  const rows = await inTransaction(database, (db) => findIndexed(db, page.slice(unknown.length)));
  const sessions = await Promise.all(page.map(async (id) => rows.get(id)?.summary ?? (await summaryOf(id, index))));
  // Of what is deleted since its id was read the place is not known.
  const last = page.findLast((id, at) => at < unknown.length || rows.has(id));
  return {
    sessions: sessions.filter((summary) => summary !== null),
    next: ids.length <= limit ? null : last === undefined ? (after ?? null) : cursorOf(last, rows.get(last)?.place),
  };
};

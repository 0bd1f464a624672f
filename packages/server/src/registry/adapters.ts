import type {
  Adapter,
  AdapterFile,
  AdapterMethod,
  AdapterSort,
  EvaluationSummary,
  PartialTraining,
  Proof,
  ServedBy,
  TaskSummary,
} from "@imprint/contracts";
import { type RawBuilder, type Selectable, sql } from "kysely";
import { fieldRefused } from "../common/error.js";
import { type AdapterTable, afterPrefix, type Transaction } from "../storage/schema.js";

/** An adapter as the registry knows it; its health is read from the disk, its verdict from its proof. */
export type AdapterRow = Omit<Adapter, "health" | "verdict">;

export interface AdapterFilter {
  readonly base_model?: string;
  readonly task_type?: string;
  readonly session_id?: string;
  /** What the id begins with. */
  readonly prefix?: string;
  /** Words that the id, the base model, the kind of work or the sessions hold, all of them. */
  readonly search?: string;
}

/** What has none of it is last; what is alike, the newest first. */
const ORDERS: Readonly<Record<AdapterSort, RawBuilder<number>>> = {
  created: sql<number>`seq`,
  helps: sql<number>`case coalesce(evaluation ->> 'verdict', '') when 'helps' then 3 when 'harms' then 1 when '' then 0 else 2 end`,
  tasks: sql<number>`coalesce(1.0 * (tasks ->> 'solved') / nullif(tasks ->> 'of', 0), -1)`,
  size: sql<number>`size`,
};

const fromRow = (row: Selectable<AdapterTable>): AdapterRow => ({
  adapter_id: row.adapter_id,
  method: row.method as AdapterMethod,
  base_model: row.base_model,
  task_type: row.task_type,
  session_id: row.session_id,
  session_ids: JSON.parse(row.session_ids) as string[],
  job_id: row.job_id,
  rank: row.rank,
  alpha: row.alpha,
  size: row.size,
  sha256: row.sha256,
  files: JSON.parse(row.files) as AdapterFile[],
  metadata: JSON.parse(row.metadata) as Record<string, string>,
  proof: { held_out: null, ...JSON.parse(row.proof) } as Proof,
  partial: row.partial === null ? null : (JSON.parse(row.partial) as PartialTraining),
  evaluation: row.evaluation === null ? null : (JSON.parse(row.evaluation) as EvaluationSummary),
  served: row.served === null ? null : (JSON.parse(row.served) as ServedBy),
  tasks: row.tasks === null ? null : (JSON.parse(row.tasks) as TaskSummary),
  created_at: row.created_at,
  path: `adapters/${row.adapter_id}`,
});

export const insertAdapter = async (db: Transaction, { path: _derived, ...adapter }: AdapterRow): Promise<void> => {
  await db
    .insertInto("adapters")
    .values({
      ...adapter,
      session_ids: JSON.stringify(adapter.session_ids),
      files: JSON.stringify(adapter.files),
      metadata: JSON.stringify(adapter.metadata),
      proof: JSON.stringify(adapter.proof),
      partial: adapter.partial && JSON.stringify(adapter.partial),
      evaluation: adapter.evaluation && JSON.stringify(adapter.evaluation),
      served: adapter.served && JSON.stringify(adapter.served),
      tasks: adapter.tasks && JSON.stringify(adapter.tasks),
      archived_at: null,
      purged_at: null,
    })
    .execute();
};

/** Records what has become known of an adapter: its files, evaluations, and whether what answers its chats applies it. */
export const recordOf = async (
  db: Transaction,
  adapterId: string,
  { files, ...said }: Partial<Pick<AdapterRow, "files" | "evaluation" | "served" | "tasks">>,
): Promise<void> => {
  const texts = Object.entries(said).map(([name, value]) => [name, value && JSON.stringify(value)]);
  const measured = files && { files: JSON.stringify(files), size: files.reduce((sum, { size }) => sum + size, 0) };
  await db
    .updateTable("adapters")
    .set({ ...Object.fromEntries(texts), ...measured })
    .where("adapter_id", "=", adapterId)
    .execute();
};

/** Ids are written once: an archived or purged adapter keeps its id. */
export const isAdapterIdTaken = async (db: Transaction, adapterId: string): Promise<boolean> =>
  (await db.selectFrom("adapters").select("seq").where("adapter_id", "=", adapterId).executeTakeFirst()) !== undefined;

/** A registered adapter that is not archived. */
export const findAdapter = async (db: Transaction, adapterId: string): Promise<AdapterRow | null> => {
  const row = await db
    .selectFrom("adapters")
    .selectAll()
    .where("adapter_id", "=", adapterId)
    .where("archived_at", "is", null)
    .executeTakeFirst();
  return row ? fromRow(row) : null;
};

/** By default newest first. `after` is the last id of the page before: archived meanwhile or not, it keeps its place. */
export const listAdapters = async (
  db: Transaction,
  {
    filter,
    limit,
    after,
    sort = "created",
  }: { readonly filter: AdapterFilter; readonly limit: number; readonly after?: string; readonly sort?: AdapterSort },
): Promise<{ readonly adapters: readonly AdapterRow[]; readonly next: string | null }> => {
  let query = db.selectFrom("adapters").selectAll().where("archived_at", "is", null);
  for (const column of ["base_model", "task_type"] as const) {
    const wanted = filter[column];
    if (wanted !== undefined) query = query.where(column, "=", wanted);
  }
  const { session_id, prefix } = filter;
  if (prefix !== undefined) query = query.where("adapter_id", ">=", prefix).where("adapter_id", "<", afterPrefix(prefix));
  if (session_id !== undefined) query = query.where(sql<boolean>`instr(session_ids, ${JSON.stringify(session_id)}) > 0`);
  for (const word of (filter.search ?? "").toLowerCase().split(/\s+/).filter(Boolean))
    query = query.where(
      sql<boolean>`instr(lower(adapter_id || ' ' || base_model || ' ' || task_type || ' ' || session_ids), ${word}) > 0`,
    );
  if (after !== undefined) {
    const cursor = await db
      .selectFrom("adapters")
      .select(["seq", ORDERS[sort].as("value")])
      .where("adapter_id", "=", after)
      .executeTakeFirst();
    if (!cursor) throw fieldRefused("after", "names no adapter: send the `next` of the page before");
    query = query.where(sql<boolean>`(${ORDERS[sort]}, seq) < (${cursor.value}, ${cursor.seq})`);
  }
  const rows = await query
    .orderBy(ORDERS[sort], "desc")
    .orderBy("seq", "desc")
    .limit(limit + 1)
    .execute();
  const page = rows.slice(0, limit).map(fromRow);
  return { adapters: page, next: rows.length > limit ? (page.at(-1)?.adapter_id ?? null) : null };
};

/** Marks an adapter archived, and purged when asked. False when no row has the id. */
export const archiveAdapter = async (
  db: Transaction,
  { adapterId, at, purge }: { readonly adapterId: string; readonly at: string; readonly purge: boolean },
): Promise<boolean> => {
  const row = await db
    .selectFrom("adapters")
    .select(["archived_at", "purged_at"])
    .where("adapter_id", "=", adapterId)
    .executeTakeFirst();
  if (!row) return false;
  await db
    .updateTable("adapters")
    .set({ archived_at: row.archived_at ?? at, purged_at: row.purged_at ?? (purge ? at : null) })
    .where("adapter_id", "=", adapterId)
    .execute();
  return true;
};

/** Ids whose files belong into `adapters/`, and ids whose files do not belong on the disk any more. */
export const adapterIds = async (
  db: Transaction,
): Promise<{ readonly kept: ReadonlySet<string>; readonly purged: ReadonlySet<string> }> => {
  const rows = await db.selectFrom("adapters").select(["adapter_id", "purged_at"]).execute();
  const idsWhere = (isPurged: boolean): ReadonlySet<string> =>
    new Set(rows.filter((row) => (row.purged_at !== null) === isPurged).map((row) => row.adapter_id));
  return { kept: idsWhere(false), purged: idsWhere(true) };
};

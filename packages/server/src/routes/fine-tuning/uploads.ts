import type { Selectable } from "kysely";
import type { Transaction, UploadTable } from "../../storage/schema.js";

export type Upload = Omit<Selectable<UploadTable>, "seq">;

const COLUMNS = ["file_id", "filename", "bytes", "created_at"] as const;

export const insertUpload = async (db: Transaction, upload: Upload): Promise<void> => {
  await db.insertInto("uploads").values(upload).execute();
};

export const findUpload = async (db: Transaction, fileId: string): Promise<Upload | null> =>
  (await db.selectFrom("uploads").select(COLUMNS).where("file_id", "=", fileId).executeTakeFirst()) ?? null;

/** In the order of their arrival, or the other way round; `limit` of those behind `after`. */
export const listUploads = async (
  db: Transaction,
  { order, limit, after }: { readonly order: "asc" | "desc"; readonly limit: number; readonly after?: string | undefined },
): Promise<readonly Upload[]> => {
  const from = db.selectFrom("uploads").select(COLUMNS).orderBy("seq", order).limit(limit);
  if (after === undefined) return from.execute();
  const place = db.selectFrom("uploads").select("seq").where("file_id", "=", after);
  return from.where("seq", order === "asc" ? ">" : "<", place).execute();
};

/** Whether it was there. */
export const deleteUpload = async (db: Transaction, fileId: string): Promise<boolean> => {
  const { numDeletedRows } = await db.deleteFrom("uploads").where("file_id", "=", fileId).executeTakeFirst();
  return numDeletedRows > 0n;
};

export const uploadIds = async (db: Transaction): Promise<ReadonlySet<string>> =>
  new Set((await db.selectFrom("uploads").select("file_id").execute()).map(({ file_id }) => file_id));

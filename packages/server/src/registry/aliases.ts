import type { Transaction } from "../storage/schema.js";

export interface Alias {
  readonly adapter_id: string;
  readonly moved_at: string;
}

/** What a name such as `NAME@latest` means now; null for one that nobody set. Ids of adapters are looked up as they are. */
export const findAlias = async (db: Transaction, alias: string): Promise<Alias | null> =>
  (await db.selectFrom("adapter_aliases").select(["adapter_id", "moved_at"]).where("alias", "=", alias).executeTakeFirst()) ??
  null;

/** Every name with what it means. */
export const listAliases = (db: Transaction): Promise<readonly (Alias & { readonly alias: string })[]> =>
  db.selectFrom("adapter_aliases").selectAll().orderBy("alias").execute();

/** Lets a name mean nothing from now on. */
export const dropAlias = async (db: Transaction, alias: string): Promise<void> => {
  await db.deleteFrom("adapter_aliases").where("alias", "=", alias).execute();
};

/** Lets a name mean an adapter from now on. */
export const pointAlias = async (
  db: Transaction,
  { alias, adapterId: adapter_id, at: moved_at }: { readonly alias: string; readonly adapterId: string; readonly at: string },
): Promise<void> => {
  await db
    .insertInto("adapter_aliases")
    .values({ alias, adapter_id, moved_at })
    .onConflict((conflict) => conflict.column("alias").doUpdateSet({ adapter_id, moved_at }))
    .execute();
};

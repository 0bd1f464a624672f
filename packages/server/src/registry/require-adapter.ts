import { AdapterId } from "@imprint/contracts";
import { matches } from "@imprint/contracts/fields";
import { ImprintError, quote } from "../common/error.js";
import type { Database } from "../storage/schema.js";
import { inTransaction } from "../storage/transaction.js";
import { type AdapterRow, findAdapter } from "./adapters.js";
import { findAlias } from "./aliases.js";

/** No id of an adapter has one. */
const MARK = "@";

export const adapterNotFound = (adapterId: string): ImprintError =>
  new ImprintError("ADAPTER_NOT_FOUND", `There is no adapter ${quote(adapterId)}.`);

const aliasDangles = (alias: string, adapterId: string): ImprintError =>
  new ImprintError("ADAPTER_NOT_FOUND", `${quote(alias)} is the adapter ${adapterId}, which was deleted.`, {
    hint: "POST /projects/{name}/rollback points it at another.",
  });

/**
 * The registered adapter of a text that may be its id, or a name that means one now; null for any other text. Everything that is asked
 * of an adapter by name is asked through here, in a transaction of its own, ended before files are read.
 * @throws ImprintError ADAPTER_NOT_FOUND for a name whose adapter was deleted
 */
export const findNamed = (database: Database, name: string): Promise<AdapterRow | null> =>
  inTransaction(database, async (db) => {
    if (!name.includes(MARK)) return matches(AdapterId, name) ? findAdapter(db, name) : null;
    const alias = await findAlias(db, name);
    if (alias === null) return null;
    const adapter = await findAdapter(db, alias.adapter_id);
    if (!adapter) throw aliasDangles(name, alias.adapter_id);
    return adapter;
  });

/**
 * The same, where there has to be one.
 * @throws ImprintError ADAPTER_NOT_FOUND
 */
export const requireAdapter = async (database: Database, name: string): Promise<AdapterRow> => {
  const adapter = await findNamed(database, name);
  if (!adapter) throw adapterNotFound(name);
  return adapter;
};

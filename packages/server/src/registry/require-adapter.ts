import { AdapterId } from "@imprint/contracts";
import { ImprintError } from "../common/error.js";
import { matches } from "../common/matches.js";
import { quote } from "../common/quote.js";
import type { Database } from "../storage/schema.js";
import { inTransaction } from "../storage/transaction.js";
import { type AdapterRow, findAdapter } from "./adapters.js";

export const adapterNotFound = (adapterId: string): ImprintError =>
  new ImprintError("ADAPTER_NOT_FOUND", `There is no adapter ${quote(adapterId)}.`);

/**
 * The registered adapter of a text that may be its id, asked in a transaction of its own, ended before files are read.
 * @throws ImprintError ADAPTER_NOT_FOUND
 */
export const requireAdapter = async (database: Database, adapterId: string): Promise<AdapterRow> => {
  const adapter = matches(AdapterId, adapterId) ? await inTransaction(database, (db) => findAdapter(db, adapterId)) : null;
  if (!adapter) throw adapterNotFound(adapterId);
  return adapter;
};

import { AdapterId, type ChatSpec } from "@imprint/contracts";
import { matches } from "../common/matches.js";
import { quote } from "../common/quote.js";
import { ProblemError } from "../http/problem.js";
import type { Workshop } from "../kinds/workshop.js";
import { locateBaseModel } from "../models/base-model.js";
import { findAdapter } from "../registry/adapters.js";
import { requireWhole } from "../registry/health.js";
import { inTransaction } from "../storage/transaction.js";

export const unknownModel = (model: string): ProblemError =>
  new ProblemError("NOT_FOUND", `${quote(model)} is neither an adapter nor a prepared base model; GET /v1/models lists both.`);

/**
 * The files of an adapter or a base model by its name. The registry is asked in a transaction of its own: the answer may take minutes.
 * @throws ProblemError NOT_FOUND, and what a broken adapter is refused with
 */
export const locateModel = async (model: string, workshop: Workshop): Promise<Pick<ChatSpec, "base_model" | "adapter_path">> => {
  const { database, models } = workshop;
  const adapter = matches(AdapterId, model) ? await inTransaction(database, (session) => findAdapter(session, model)) : null;
  if (adapter)
    return {
      base_model: locateBaseModel(adapter.base_model, models).location,
      adapter_path: await requireWhole(workshop, adapter),
    };
  try {
    return { base_model: locateBaseModel(model, models).location, adapter_path: null };
  } catch {
    throw unknownModel(model);
  }
};

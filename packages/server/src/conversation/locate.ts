import type { ChatSpec } from "@imprint/contracts";
import { quote } from "../common/quote.js";
import { ProblemError } from "../http/problem.js";
import type { Workshop } from "../kinds/workshop.js";
import { locateBaseModel } from "../models/base-model.js";
import { requireWhole } from "../registry/health.js";
import { findNamed } from "../registry/require-adapter.js";

/**
 * The files of an adapter or a base model by its name. The registry is asked in a transaction of its own: the answer may take minutes.
 * @throws ProblemError NOT_FOUND, and what a deleted or broken adapter is refused with
 */
export const locateModel = async (model: string, workshop: Workshop): Promise<Pick<ChatSpec, "base_model" | "adapter_path">> => {
  const { database, models } = workshop;
  const adapter = await findNamed(database, model);
  if (adapter)
    return {
      base_model: locateBaseModel(adapter.base_model, models).location,
      adapter_path: await requireWhole(workshop, adapter),
    };
  try {
    return { base_model: locateBaseModel(model, models).location, adapter_path: null };
  } catch {
    throw new ProblemError(
      "NOT_FOUND",
      `${quote(model)} is neither an adapter nor a prepared base model; GET /v1/models lists both.`,
    );
  }
};

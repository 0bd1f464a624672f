import type { ChatSpec } from "@imprint/contracts";
import { ProblemError } from "../common/problem.js";
import { quote } from "../common/quote.js";
import type { Workshop } from "../kinds/workshop.js";
import { locateBaseModel } from "../models/base-model.js";
import { requireWhole } from "../registry/health.js";
import { findNamed } from "../registry/require-adapter.js";
import { type Served, servedElsewhere } from "../runners/served.js";

export const unknownModel = (model: string, upstream: Served | null): ProblemError =>
  new ProblemError(
    "NOT_FOUND",
    `${quote(model)} is neither an adapter nor a prepared base model${upstream === null ? "" : ", nor a model of the upstream"}; GET /v1/models lists them.`,
  );

/**
 * The files of an adapter or a base model by its name. The registry is asked in a transaction of its own: the answer may take minutes.
 * A name of this machine is never another server's.
 * @throws ProblemError NOT_FOUND, what a deleted or broken adapter is refused with, and UPSTREAM_UNREACHABLE for a name that may be the
 * upstream's
 */
export const locateModel = async (
  model: string,
  { workshop, upstream }: { readonly workshop: Workshop; readonly upstream: Served | null },
): Promise<Pick<ChatSpec, "base_model" | "adapter_path">> => {
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
    const served = upstream === null ? [] : await upstream.models();
    if (served.some(({ id }) => id === model)) return { base_model: servedElsewhere(model), adapter_path: null };
    throw unknownModel(model, upstream);
  }
};

import { LORA_DEFAULTS, type TrainLoraRequest } from "@imprint/contracts";
import { type Defaults, MAX_ADAPTER_ID, resolveCommon, resolveSelection, sessionIdsOf } from "../resolve.js";

/** A LoRA request with every value decided. */
export const resolveLora = (request: TrainLoraRequest, defaults: Defaults) => {
  const sessionIds = sessionIdsOf(request);
  const selection = resolveSelection(request, sessionIds.length);
  return {
    ...resolveCommon(request, sessionIds, defaults),
    ...selection,
    alpha: request.alpha ?? selection.rank * LORA_DEFAULTS.alpha_per_rank,
    learning_rate: request.learning_rate ?? null,
  };
};
export type ResolvedLora = ReturnType<typeof resolveLora>;

/** What a LoRA job is asked: with the job whose checkpoint it begins with, to train on or to make an adapter of. */
export type LoraJobRequest = ResolvedLora & { readonly resume_from?: string; readonly salvage_of?: string };

/** What a resumed or salvaged training is called; everything else is what the job before had decided. */
export const renamed = <Request extends Pick<ResolvedLora, "adapter_id" | "metadata" | "keep_harmful">>(
  request: Request,
  {
    adapter_id = request.adapter_id,
    metadata = request.metadata,
    keep_harmful = request.keep_harmful,
  }: Pick<TrainLoraRequest, "adapter_id" | "metadata" | "keep_harmful">,
): Request => ({ ...request, adapter_id, metadata, keep_harmful });

const PARTIAL = "-partial-";

/** An id for what is salvaged: the job's own stays free for a resume. */
export const makePartialId = (adapterId: string, suffix: string): string =>
  `${adapterId.slice(0, MAX_ADAPTER_ID - PARTIAL.length - suffix.length)}${PARTIAL}${suffix}`;

import { IMPRINT_DEFAULTS, type TrainHypernetworkRequest } from "@imprint/contracts";
import { type Defaults, resolveCommon } from "../resolve.js";

/** A hypernetwork request with every value decided. Null: what the hypernetwork was trained with; for `scaling`, calibrated. */
export const resolveHypernetwork = (request: TrainHypernetworkRequest, defaults: Defaults) => ({
  ...resolveCommon(request, request.trajectory_ids.slice(0, 1), defaults),
  max_chunk_length: request.max_chunk_length ?? null,
  scaling: request.scaling ?? null,
  max_chunks: request.max_chunks ?? IMPRINT_DEFAULTS.max_chunks,
  compress_rank: request.compress_rank ?? null,
});
export type ResolvedHypernetwork = ReturnType<typeof resolveHypernetwork>;

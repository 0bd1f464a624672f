import { type Static, Type } from "typebox";
import { SessionId } from "./ids.js";
import { Strict } from "./object.js";
import { TrainLoraRequest } from "./training.js";

const { task_type, adapter_id, base_model, seed, metadata, keep_harmful, include_unsuccessful } = TrainLoraRequest.properties;

/** What is assumed where a request for an imprint is silent. */
export const IMPRINT_DEFAULTS = { max_chunks: 16, refine_steps: 0 } as const;

/** Body of `POST /train/hypernetwork`. Only the first trajectory is used; further ones are named in a warning. */
export const TrainHypernetworkRequest = Strict({
  trajectory_ids: Type.Array(SessionId, { minItems: 1, maxItems: 1000 }),
  ...{ task_type, adapter_id, base_model, seed, metadata, keep_harmful },
  max_chunk_length: Type.Optional(
    Type.Integer({ minimum: 16, maximum: 8192, description: "Tokens of the session read at once" }),
  ),
  scaling: Type.Optional(
    Type.Number({
      exclusiveMinimum: 0,
      maximum: 16,
      description: "Factor on the generated update; default: the best that neutral text allows",
    }),
  ),
  max_chunks: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 256,
      default: IMPRINT_DEFAULTS.max_chunks,
      description: "Of the session, read at most: what matters most goes first",
    }),
  ),
  compress_rank: Type.Optional(Type.Integer({ minimum: 1, maximum: 256, description: "Reduce the adapter to this rank" })),
  refine_steps: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 1000,
      default: IMPRINT_DEFAULTS.refine_steps,
      description: "Steps of training, of one window each, that the generated adapter is refined by",
    }),
  ),
  include_unsuccessful,
});
export type TrainHypernetworkRequest = Static<typeof TrainHypernetworkRequest>;

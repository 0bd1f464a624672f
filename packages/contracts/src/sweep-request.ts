import { type Static, type TSchema, Type } from "typebox";
import { JobId } from "./ids.js";
import { Strict } from "./object.js";
import { EarlyStopping } from "./sweep.js";
import { TrainLoraRequest } from "./training.js";

/** Trials of one sweep, at most. */
export const MAX_TRIALS = 64;

const several = <T extends TSchema>(one: T, description: string) =>
  Type.Optional(Type.Array(one, { minItems: 1, maxItems: 16, uniqueItems: true, description }));

const {
  rank: _rank,
  alpha: _alpha,
  learning_rate: _rate,
  epochs: _epochs,
  profile: _profile,
  within: _within,
  resume_from: _job,
  ...ofTrainings
} = TrainLoraRequest.properties;

/**
 * Body of `POST /train/sweep`: every combination of the values of `rank`, `alpha`, `learning_rate` and `epochs` is a trial. Exactly one of
 * `session_id`, `session_ids` and `resume_from` is there; beside `resume_from` only the fields of RESUME_FIELDS may stand.
 */
export const TrainSweepRequest = Strict(
  {
    ...ofTrainings,
    rank: several(Type.Integer({ minimum: 1, maximum: 256 }), "Ranks of the update to try; default: 16"),
    alpha: several(Type.Number({ exclusiveMinimum: 0, maximum: 1024 }), "Default: twice the rank of each trial"),
    learning_rate: several(
      Type.Number({ exclusiveMinimum: 0, maximum: 0.1 }),
      "Peaks to try; default: 0.001 at the default model's width, lower for wider ones",
    ),
    epochs: several(Type.Integer({ minimum: 1, maximum: 100 }), "Passes to try; default: by the amount of text, 1 to 4"),
    trials: Type.Optional(
      Type.Integer({
        minimum: 2,
        maximum: MAX_TRIALS,
        description: "Combinations to try, drawn by the seed where there are more; default: all",
      }),
    ),
    early_stopping: Type.Optional(EarlyStopping),
    resume_from: Type.Optional(
      Type.String({ ...JobId, description: "Sweep that was cancelled or failed: it goes on where it was" }),
    ),
  },
  { oneOf: [{ required: ["session_id"] }, { required: ["session_ids"] }, { required: ["resume_from"] }] },
);
export type TrainSweepRequest = Static<typeof TrainSweepRequest>;

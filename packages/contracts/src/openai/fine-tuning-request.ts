import { type Static, type TSchema, Type } from "typebox";
import { Strict } from "../object.js";
import { TrainLoraRequest } from "../training.js";
import { open } from "./open.js";

const auto = <T extends TSchema>(schema: T) => Type.Optional(Type.Union([Type.Literal("auto"), schema]));

/** What a `learning_rate_multiplier` multiplies. */
export const MULTIPLIED_RATE = 1e-3;
const MAX_MULTIPLIER = 0.1 / MULTIPLIED_RATE;

export const FineTuningHyperparameters = Strict({
  n_epochs: auto(Type.Integer({ minimum: 1, maximum: 100 })),
  learning_rate_multiplier: auto(
    Type.Number({ exclusiveMinimum: 0, maximum: MAX_MULTIPLIER, description: `Of the learning rate ${MULTIPLIED_RATE}` }),
  ),
  batch_size: Type.Optional(
    Type.Union([
      Type.Literal("auto"),
      Type.Unknown({ description: "Refused: the trainer chooses it from the length of the data" }),
    ]),
  ),
});
export type FineTuningHyperparameters = Static<typeof FineTuningHyperparameters>;

/** The part of OpenAI's request that the service honours. */
export const FineTuningRequest = Strict({
  model: Type.String({ minLength: 1, maxLength: 200, description: "A prepared base model" }),
  training_file: Type.String({ minLength: 1, maxLength: 128, description: "Id of an uploaded chat JSONL file" }),
  suffix: open(
    Type.String({
      pattern: "^[a-z0-9][a-z0-9._-]{0,39}$",
      description: "Part of the new adapter's id: a-z, 0-9, dot, dash, underscore",
    }),
  ),
  seed: open(Type.Integer({ minimum: 0, maximum: 2 ** 32 - 1 })),
  method: open(
    Strict({
      type: Type.Literal("supervised"),
      supervised: Type.Optional(Strict({ hyperparameters: Type.Optional(FineTuningHyperparameters) })),
    }),
  ),
  hyperparameters: open(FineTuningHyperparameters),
  metadata: open(TrainLoraRequest.properties.metadata as TSchema),
  validation_file: open(
    Type.Never({ description: "Not taken: the proof of every adapter is made on the trained text and on neutral text" }),
  ),
  integrations: open(Type.Array(Type.Unknown(), { maxItems: 0 })),
});
export type FineTuningRequest = Static<typeof FineTuningRequest>;

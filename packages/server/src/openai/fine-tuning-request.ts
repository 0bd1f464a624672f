import { LORA_DEFAULTS, Strict, TrainLoraRequest as TrainLora, type TrainLoraRequest } from "@imprint/contracts";
import { type Static, type TSchema, Type } from "typebox";
import { ProblemError } from "../http/problem.js";

const open = <T extends TSchema>(schema: T) => Type.Optional(Type.Union([schema, Type.Null()]));
const auto = <T extends TSchema>(schema: T) => Type.Optional(Type.Union([Type.Literal("auto"), schema]));

const MAX_MULTIPLIER = 0.1 / LORA_DEFAULTS.learning_rate;

const Hyperparameters = Strict({
  n_epochs: auto(Type.Integer({ minimum: 1, maximum: 100 })),
  learning_rate_multiplier: auto(
    Type.Number({
      exclusiveMinimum: 0,
      maximum: MAX_MULTIPLIER,
      description: `Of the learning rate ${LORA_DEFAULTS.learning_rate}`,
    }),
  ),
  batch_size: Type.Optional(
    Type.Union([
      Type.Literal("auto"),
      Type.Unknown({ description: "Refused: the trainer chooses it from the length of the data" }),
    ]),
  ),
});
type Hyperparameters = Static<typeof Hyperparameters>;

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
      supervised: Type.Optional(Strict({ hyperparameters: Type.Optional(Hyperparameters) })),
    }),
  ),
  hyperparameters: open(Hyperparameters),
  metadata: open(TrainLora.properties.metadata as TSchema),
  validation_file: open(
    Type.Never({ description: "Not taken: the proof of every adapter is made on the trained text and on neutral text" }),
  ),
  integrations: open(Type.Array(Type.Unknown(), { maxItems: 0 })),
});
export type FineTuningRequest = Static<typeof FineTuningRequest>;

const refuse = (field: string, message: string): ProblemError =>
  new ProblemError("VALIDATION_FAILED", `Field ${field} ${message}.`, {
    errors: [{ path: `/${field.replaceAll(".", "/")}`, message }],
  });

/** The hyperparameters, wherever they stand. Throws ProblemError. */
export const hyperparametersOf = ({ method, hyperparameters }: FineTuningRequest): Hyperparameters => {
  const ofMethod = method?.supervised?.hyperparameters;
  if (ofMethod && hyperparameters) throw refuse("hyperparameters", "cannot stand beside method, its newer place");
  const chosen = ofMethod ?? hyperparameters ?? {};
  if (chosen.batch_size !== undefined && chosen.batch_size !== "auto")
    throw refuse(
      ofMethod ? "method.supervised.hyperparameters.batch_size" : "hyperparameters.batch_size",
      'must be "auto": the trainer chooses it from the length of the data',
    );
  return chosen;
};

/** The training that a fine-tune asks for, on sessions that its file became. */
export const trainingOf = (
  request: FineTuningRequest,
  { n_epochs = "auto", learning_rate_multiplier: multiplier = "auto" }: Hyperparameters,
  { sessionIds, random }: { readonly sessionIds: readonly string[]; readonly random: { readonly suffix: () => string } },
): TrainLoraRequest => {
  const { suffix, seed, metadata } = request;
  return {
    session_ids: [...sessionIds],
    base_model: request.model,
    adapter_id: ["ft", ...(suffix == null ? [] : [suffix]), random.suffix()].join("-"),
    ...(seed != null && { seed }),
    ...(n_epochs !== "auto" && { epochs: n_epochs }),
    ...(multiplier !== "auto" && { learning_rate: multiplier * LORA_DEFAULTS.learning_rate }),
    ...(metadata != null && { metadata: metadata as Record<string, string> }),
  };
};

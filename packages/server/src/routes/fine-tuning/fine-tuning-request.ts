import {
  type FineTuningHyperparameters,
  type FineTuningRequest,
  MULTIPLIED_RATE,
  type TrainLoraRequest,
} from "@imprint/contracts";
import { fieldRefused } from "../../common/problem.js";

/** The hyperparameters, wherever they stand. Throws ProblemError. */
export const hyperparametersOf = ({ method, hyperparameters }: FineTuningRequest): FineTuningHyperparameters => {
  const ofMethod = method?.supervised?.hyperparameters;
  if (ofMethod && hyperparameters) throw fieldRefused("hyperparameters", "cannot stand beside method, its newer place");
  const chosen = ofMethod ?? hyperparameters ?? {};
  if (chosen.batch_size !== undefined && chosen.batch_size !== "auto")
    throw fieldRefused(
      ofMethod ? "method.supervised.hyperparameters.batch_size" : "hyperparameters.batch_size",
      'must be "auto": the trainer chooses it from the length of the data',
    );
  return chosen;
};

/** The training that a fine-tune asks for, on sessions that its file became. */
export const trainingOf = (
  request: FineTuningRequest,
  { n_epochs = "auto", learning_rate_multiplier: multiplier = "auto" }: FineTuningHyperparameters,
  { sessionIds, random }: { readonly sessionIds: readonly string[]; readonly random: { readonly suffix: () => string } },
): TrainLoraRequest => {
  const { suffix, seed, metadata } = request;
  return {
    session_ids: [...sessionIds],
    base_model: request.model,
    holdout: "none", // OpenAI's API trains on the whole of a training file
    adapter_id: ["ft", ...(suffix == null ? [] : [suffix]), random.suffix()].join("-"),
    ...(seed != null && { seed }),
    ...(n_epochs !== "auto" && { epochs: n_epochs }),
    ...(multiplier !== "auto" && { learning_rate: multiplier * MULTIPLIED_RATE }),
    ...(metadata != null && { metadata: metadata as Record<string, string> }),
  };
};

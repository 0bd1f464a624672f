import { ImprintError } from "../common/error.js";
import { ProblemError } from "../common/problem.js";
import { type BaseModel, type BaseModels, requestedBaseModel } from "../models/base-model.js";

/** The base model of a request. Refused before anything starts, by the name of its field. */
export const requireBaseModel = (given: string | undefined, models: BaseModels): BaseModel => {
  try {
    return requestedBaseModel(given, models);
  } catch (error) {
    if (!(error instanceof ImprintError)) throw error;
    const { code, message, hint } = error;
    throw new ProblemError(code, `Field base_model: ${message} ${hint}`, { errors: [{ path: "/base_model", message }] });
  }
};

/** A start call with its base model decided: a folder goes by its name from here on. */
export const withBaseModel = <T extends { readonly base_model?: string }>(body: T, models: BaseModels): T => ({
  ...body,
  base_model: requireBaseModel(body.base_model, models).name,
});

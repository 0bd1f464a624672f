import { EvaluateRequest } from "@imprint/contracts";
import { fieldErrors } from "@imprint/contracts/fields";
import { problemsByField, readValue, type Values } from "../train/read-form.js";

const { actions, seed } = EvaluateRequest.properties;

/** The numbers of an evaluation, from the request's schema. */
export const NUMBERS = { actions, seed };

interface Form {
  readonly sessionIds: readonly string[];
  readonly control: string;
  readonly values: Values;
}

/** The request that a form describes: what is left empty is left out. */
export function evaluateRequestOf({ sessionIds, control, values }: Form): EvaluateRequest {
  const given = Object.entries(NUMBERS).flatMap(([name, schema]) => {
    const text = values[name] ?? "";
    return text.trim() === "" ? [] : [[name, readValue(schema, text)] as const];
  });
  return {
    ...(sessionIds.length > 0 && { session_ids: [...sessionIds] }),
    ...(control !== "" && { control_adapter_id: control }),
    ...Object.fromEntries(given),
  };
}

export const checkEvaluateForm = (form: Form): Values => problemsByField(fieldErrors(EvaluateRequest, evaluateRequestOf(form)));

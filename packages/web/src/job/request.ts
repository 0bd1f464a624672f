import type { TrainLoraRequest } from "@imprint/contracts";

type Request = Readonly<Record<string, unknown>>;

/** The sessions of a request as resolved. */
export const sessionIdsOf = ({ session_ids, session_id }: Request): readonly string[] =>
  Array.isArray(session_ids) ? session_ids.map(String) : typeof session_id === "string" ? [session_id] : [];

const SELECTION = [
  "base_model",
  "profile",
  "holdout",
  "max_length",
  "train_on",
  "reasoning",
  "include_unsuccessful",
  "skip_invalid",
  "epochs",
  "within",
  "quantization",
] as const;

/** The request that previews what a LoRA job learns from. A null in a request as resolved is a field that was left out. */
export function previewRequestOf(request: Request): TrainLoraRequest {
  const known = SELECTION.map((name) => [name, request[name]] as const).filter(
    ([, value]) => value !== null && value !== undefined,
  );
  const ids = sessionIdsOf(request);
  return {
    ...Object.fromEntries(known),
    ...(ids.length === 1 && ids[0] !== undefined ? { session_id: ids[0] } : { session_ids: [...ids] }),
  };
}

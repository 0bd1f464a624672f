import { StartResponse } from "@imprint/contracts";
import { answer, problems } from "../../http/schemas.js";

/** Answers of the calls that start a training. */
export const startResponse = {
  200: answer("The job is queued", StartResponse),
  ...problems(
    "MALFORMED_JSON",
    "ADAPTER_ID_TAKEN",
    "JOB_NOT_FINISHED",
    "CHECKPOINT_NOT_FOUND",
    "CHECKPOINT_INVALID",
    "IDEMPOTENCY_CONFLICT",
    "BODY_TOO_LARGE",
    "UNSUPPORTED_MEDIA_TYPE",
    "VALIDATION_FAILED",
    "BASE_MODEL_NOT_FOUND",
    "BASE_MODEL_UNSAFE",
    "BASE_MODEL_INVALID",
    "QUEUE_FULL",
    "SHUTTING_DOWN",
  ),
};

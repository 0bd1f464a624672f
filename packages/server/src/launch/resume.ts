import { RESUME_FIELDS, type TrainLoraRequest } from "@imprint/contracts";
import { ProblemError } from "../common/problem.js";
import type { Jobs } from "../jobs/jobs.js";
import { requireCheckpoint } from "../kinds/lora/checkpoints/require.js";
import { type LoraJobRequest, renamed } from "../kinds/lora/resolve.js";
import type { Workshop } from "../kinds/workshop.js";
import { requireBaseModel } from "./require-base-model.js";

interface Deps {
  readonly jobs: Jobs;
  readonly workshop: Workshop;
}

const MESSAGE = "cannot stand beside resume_from: a resumed training keeps every number of its request";

/** Beside resume_from, anything that would change the numbers is refused by name. */
export const checkResumeFields = (body: object): void => {
  const strays = Object.keys(body).filter((field) => !(RESUME_FIELDS as readonly string[]).includes(field));
  if (strays.length === 0) return;
  const errors = strays.map((field) => ({ path: `/${field}`, message: MESSAGE }));
  throw new ProblemError("VALIDATION_FAILED", `Field ${strays.join(", ")} ${MESSAGE}.`, { errors });
};

/** The request of the job that is resumed, under the names that this one asks for. */
export const resolveResume = async (
  body: TrainLoraRequest & { readonly resume_from: string },
  { jobs, workshop }: Deps,
): Promise<LoraJobRequest> => {
  checkResumeFields(body);
  const request = await requireCheckpoint(body.resume_from, { jobs, workshop });
  requireBaseModel(request.base_model, workshop.models);
  return { ...renamed(request, body), resume_from: body.resume_from };
};

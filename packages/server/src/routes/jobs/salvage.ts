import { SalvageRequest, StartResponse } from "@imprint/contracts";
import { Type } from "typebox";
import type { App } from "../../http/app.js";
import { answer, idParams, startProblems } from "../../http/schemas.js";
import type { KindDeps } from "../../kinds/deps.js";
import { requireCheckpoint } from "../../kinds/lora/checkpoints/folder.js";
import { makePartialId, type Randomness, renamed } from "../../kinds/resolve.js";
import { type LaunchDeps, requireBaseModel, startJob } from "../../launch/start.js";

interface Deps extends LaunchDeps {
  readonly deps: KindDeps;
  readonly random: Randomness;
}

/** `POST /jobs/{job_id}/salvage`: an adapter of what a training had learned when it was cancelled or failed. */
export const salvageRoute = (app: App, services: Deps): void => {
  const { jobs, deps, random } = services;
  app.post(
    "/jobs/:job_id/salvage",
    {
      schema: {
        tags: ["jobs"],
        summary: "Prove and register the last checkpoint of a job as a partial adapter",
        params: idParams("job_id"),
        body: Type.Union([Type.Null(), SalvageRequest]),
        response: { 202: answer("A job that does it is queued", StartResponse), ...startProblems },
      },
    },
    async (request, reply) => {
      const { job_id } = request.params;
      const kept = await requireCheckpoint(job_id, { jobs, deps });
      requireBaseModel(kept.base_model, deps.models);
      const adapter_id = makePartialId(kept.adapter_id, random.suffix());
      const resolved = { ...renamed(kept, { adapter_id, ...request.body }), salvage_of: job_id };
      return reply.code(202).send(await startJob(request, { kind: "lora", request: resolved }, services));
    },
  );
};

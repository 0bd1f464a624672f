import { EVALUATE_DEFAULTS, EvaluateRequest, Evaluation, StartResponse } from "@imprint/contracts";
import { ProblemError } from "../../common/error.js";
import type { App } from "../../http/app.js";
import { answer, idParams, problems, QUEUED, startBody, TESTED } from "../../http/schemas.js";
import type { KindDeps } from "../../kinds/deps.js";
import { chooseSessions } from "../../kinds/evaluation/choose-sessions.js";
import { readHeldOut } from "../../kinds/evaluation/held-out.js";
import { type LaunchDeps, startJob } from "../../launch/start.js";
import { findEvaluation } from "../../registry/evaluation.js";
import { requireWhole } from "../../registry/health.js";
import { requireAdapter } from "../../registry/require-adapter.js";

interface Deps extends LaunchDeps {
  readonly deps: KindDeps;
}

const params = idParams("adapter_id");
/** Sessions may have to be read to be chosen. */
const TIMEOUT_MS = 120_000;

export const evaluationRoutes = (app: App, services: Deps): void => {
  const { deps } = services;
  const { database, paths, sessions } = deps;
  const { body, validatorCompiler } = startBody(EvaluateRequest);

  const requireControl = async (controlId: string, baseModel: string): Promise<string> => {
    const control = await requireAdapter(database, controlId);
    if (control.base_model !== baseModel) {
      const message = `is an adapter of ${control.base_model}, and not of ${baseModel}`;
      throw new ProblemError("VALIDATION_FAILED", `control_adapter_id ${message}: compare adapters of one base model.`, {
        errors: [{ path: "/control_adapter_id", message }],
      });
    }
    await requireWhole(deps, control);
    return control.adapter_id;
  };

  app.post(
    "/adapters/:adapter_id/evaluate",
    {
      validatorCompiler,
      config: { timeoutMs: TIMEOUT_MS },
      schema: {
        tags: ["adapters"],
        summary: "Measure as a job of its own what an adapter does on sessions that it was not trained on",
        params,
        body,
        response: {
          202: answer("The job is queued", StartResponse),
          ...problems("ADAPTER_NOT_FOUND", "SESSION_TRAINED_ON", ...TESTED, ...QUEUED),
        },
      },
    },
    async (request, reply) => {
      const adapter = await requireAdapter(database, request.params.adapter_id);
      const { adapter_id, base_model } = adapter;
      const { control_adapter_id: controlId, actions = EVALUATE_DEFAULTS.actions, seed = EVALUATE_DEFAULTS.seed } = request.body;
      const folder = await requireWhole(deps, adapter);
      const control_adapter_id = controlId === undefined ? null : await requireControl(controlId, base_model);
      const choice = await chooseSessions(adapter, request.body, await readHeldOut(folder), sessions);
      const resolved = { adapter_id, base_model, ...choice, control_adapter_id, actions, seed };
      return reply.code(202).send(await startJob(request, { kind: "evaluate", request: resolved }, services));
    },
  );

  app.get(
    "/adapters/:adapter_id/evaluation",
    {
      schema: {
        tags: ["adapters"],
        summary: "The last evaluation of an adapter",
        params,
        response: { 200: answer("The evaluation", Evaluation), ...problems("ADAPTER_NOT_FOUND", "EVALUATION_NOT_FOUND") },
      },
    },
    async (request) => {
      const adapter = await requireAdapter(database, request.params.adapter_id);
      const { adapter_id: id } = adapter;
      const found = await findEvaluation(paths, adapter);
      if (found) return found;
      throw new ProblemError("EVALUATION_NOT_FOUND", `The adapter ${id} was not evaluated: imprint evaluate ${id} does it.`);
    },
  );
};

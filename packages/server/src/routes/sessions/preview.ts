import { PreviewRequest } from "@imprint/contracts";
import type { App } from "../../http/app.js";
import { idParams } from "../../http/schemas.js";
import type { KindDeps } from "../../kinds/deps.js";
import type { Interactive } from "../../runners/runner.js";
import { PREVIEW_TIMEOUT_MS, previewResponse, previewSessions } from "../train/preview.js";

interface Deps {
  readonly deps: KindDeps;
  readonly interactive: Interactive;
}

/** `POST /sessions/{id}/preview`: what a training on this session would learn from. */
export const previewRoute = (app: App, services: Deps): void => {
  app.post(
    "/sessions/:session_id/preview",
    {
      config: { timeoutMs: PREVIEW_TIMEOUT_MS },
      schema: {
        tags: ["sessions"],
        summary: "What would be trained",
        params: idParams("session_id"),
        body: PreviewRequest,
        response: previewResponse,
      },
    },
    async (call) => previewSessions(call, { sessionIds: [call.params.session_id], request: call.body }, services),
  );
};

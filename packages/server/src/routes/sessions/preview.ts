import { PreviewRequest } from "@imprint/contracts";
import { idParams } from "../../http/schemas.js";
import { PREVIEW_TIMEOUT_MS, previewResponse, previewSessions } from "../../kinds/lora/preview.js";
import type { App, Services } from "../../services.js";

/** `POST /sessions/{id}/preview`: what a training on this session would learn from. */
export const previewRoute = (app: App, services: Pick<Services, "workshop" | "interactive">): void => {
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
    async ({ params: { session_id: sessionId }, body, cancelled }) =>
      previewSessions({ sessionIds: [sessionId], request: body, signal: cancelled }, services),
  );
};

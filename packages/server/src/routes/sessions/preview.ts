import { randomUUID } from "node:crypto";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { LORA_DEFAULTS, Preview, Strict, TrainLoraRequest } from "@imprint/contracts";
import { ProblemError, quote } from "../../problem.js";
import type { App, Services } from "../../services.js";
import { isSessionId, readSession } from "../../sessions/read.js";
import { fallbackName, locateBaseModel } from "../../training/base-model.js";
import { abortedWith } from "../aborted.js";
import { answer, idParams, problems } from "../schemas.js";

const TIMEOUT_MS = 300_000;

const { base_model, max_length, include_unsuccessful } = TrainLoraRequest.properties;
const PreviewRequest = Strict({ base_model, max_length, include_unsuccessful });

/** `POST /sessions/{id}/preview`: what would be trained, by the code that trains. */
export const previewRoute = (app: App, { workshop, executor }: Pick<Services, "workshop" | "executor">): void => {
  const { paths, importer, sessionLimit, models } = workshop;
  app.post(
    "/sessions/:session_id/preview",
    {
      handlerTimeout: TIMEOUT_MS,
      schema: {
        tags: ["sessions"],
        summary: "What would be trained",
        params: idParams("session_id"),
        body: PreviewRequest,
        response: {
          200: answer("Windows, tokens and masks", Preview),
          ...problems("SESSION_NOT_FOUND", "SESSION_INVALID", "BASE_MODEL_NOT_FOUND", "NOTHING_TO_TRAIN", "WORKER_START_FAILED"),
        },
      },
    },
    async (request, reply) => {
      const { session_id: sessionId } = request.params;
      if (!isSessionId(sessionId)) throw new ProblemError("SESSION_NOT_FOUND", `There is no session ${quote(sessionId)}.`);
      const { session } = await readSession({ folder: paths.sessions, sessionId, importer, limit: sessionLimit });
      const model = locateBaseModel(request.body.base_model ?? fallbackName(models), models);
      const folder = join(paths.staging, `preview-${randomUUID()}`);
      const session_path = join(folder, "session.json");
      try {
        await mkdir(folder, { mode: 0o700 });
        await writeFile(session_path, JSON.stringify(session), { mode: 0o600 });
        const spec = {
          session_path,
          base_model: model.location,
          max_length: request.body.max_length ?? LORA_DEFAULTS.max_length,
          include_unsuccessful: request.body.include_unsuccessful ?? false,
        };
        return await executor.call({ type: "preview", spec }, abortedWith(reply));
      } finally {
        await rm(folder, { recursive: true, force: true });
      }
    },
  );
};

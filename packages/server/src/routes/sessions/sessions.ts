import { rm } from "node:fs/promises";
import { Outcome, SessionList, SessionSummary, Strict } from "@imprint/contracts";
import { Type } from "typebox";
import { ProblemError, quote } from "../../http/problem.js";
import { answer, DEFAULT_LIMIT, idParams, Limit, noContent, problems, Text } from "../../http/schemas.js";
import type { App, Services } from "../../services.js";
import { forgetSession, updateIndexed } from "../../sessions/index-table.js";
import { stageLabel } from "../../sessions/label.js";
import { listSessions } from "../../sessions/list.js";
import { isSessionId, readSession, sessionPath } from "../../sessions/read.js";
import { withStaging } from "../../sessions/staging.js";
import { toSummary } from "../../sessions/summary.js";
import { moveStaged } from "../../sessions/write.js";

const params = idParams("session_id");
const Search = Type.Optional(
  Type.String({ maxLength: 256, description: "Words that the id, the format, the outcome or the task must have, all of them." }),
);
const SessionLabel = Strict({ outcome: Outcome });

const notFound = (sessionId: string): ProblemError =>
  new ProblemError("SESSION_NOT_FOUND", `There is no session ${quote(sessionId)}.`);

export const sessionRoutes = (app: App, { workshop }: Pick<Services, "workshop">): void => {
  const { paths, sessionLimit } = workshop;

  app.get(
    "/sessions",
    {
      schema: {
        tags: ["sessions"],
        summary: "Stored sessions",
        querystring: Strict({ limit: Limit, after: Text, search: Search }),
        response: { 200: answer("A page of sessions", SessionList), ...problems("VALIDATION_FAILED") },
      },
    },
    async (request) => {
      const { limit = DEFAULT_LIMIT, after, search } = request.query;
      return listSessions({ db: await request.db(), folder: paths.sessions, fileLimit: sessionLimit, limit, after, search });
    },
  );

  app.get(
    "/sessions/:session_id",
    {
      schema: {
        tags: ["sessions"],
        summary: "A stored session in numbers",
        params,
        response: { 200: answer("The session", SessionSummary), ...problems("SESSION_NOT_FOUND", "SESSION_INVALID") },
      },
    },
    async (request) => {
      const { session_id: sessionId } = request.params;
      if (!isSessionId(sessionId)) throw notFound(sessionId);
      const { session, storedAt } = await readSession({ folder: paths.sessions, sessionId, limit: sessionLimit });
      return await toSummary(session, storedAt);
    },
  );

  app.patch(
    "/sessions/:session_id",
    {
      schema: {
        tags: ["sessions"],
        summary: "Say how a stored session ended",
        params,
        body: SessionLabel,
        response: {
          200: answer("The session", SessionSummary),
          ...problems("SESSION_NOT_FOUND", "SESSION_INVALID", "VALIDATION_FAILED"),
        },
      },
    },
    async (request) => {
      const { session_id: sessionId } = request.params;
      if (!isSessionId(sessionId)) throw notFound(sessionId);
      const { outcome } = request.body;
      const stored = await readSession({ folder: paths.sessions, sessionId, limit: sessionLimit });
      const { summary, isChanged } = await withStaging(paths.incoming, async (staging) => {
        const labelled = await stageLabel(stored, { outcome, staging });
        if (labelled.isChanged) await moveStaged([sessionId], { staging, folder: paths.sessions });
        return labelled;
      });
      if (isChanged) await updateIndexed(await request.db(), summary);
      return summary;
    },
  );

  app.delete(
    "/sessions/:session_id",
    {
      schema: {
        tags: ["sessions"],
        summary: "Delete a stored session",
        params,
        response: { 204: noContent("Deleted"), ...problems("SESSION_NOT_FOUND") },
      },
    },
    async (request, reply) => {
      const { session_id: sessionId } = request.params;
      if (!isSessionId(sessionId)) throw notFound(sessionId);
      await forgetSession(await request.db(), sessionId);
      try {
        await rm(sessionPath(paths.sessions, sessionId));
      } catch (error) {
        if (error instanceof Error && "code" in error && error.code === "ENOENT") throw notFound(sessionId);
        throw error;
      }
      return reply.code(204).send();
    },
  );
};

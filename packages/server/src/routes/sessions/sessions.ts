import { Outcome, Session, SessionFormat, SessionList, SessionSummary, Strict } from "@imprint/contracts";
import { Type } from "typebox";
import type { App } from "../../http/app.js";
import { answer, DEFAULT_LIMIT, idParams, Limit, noContent, Prefix, problems, Text } from "../../http/schemas.js";
import type { KindDeps } from "../../kinds/deps.js";

interface Deps {
  readonly deps: KindDeps;
}

const params = idParams("session_id");
const Search = Type.Optional(
  Type.String({
    maxLength: 256,
    description:
      "Words that the id, the format, the outcome, the repository, the folder, the branch, the model or the task must have, all of them.",
  }),
);
const Fact = (description: string) => Type.Optional(Type.String({ minLength: 1, maxLength: 1024, description }));
const Day = (description: string) => Type.Optional(Type.String({ format: "date", description }));
const Filters = {
  repository: Fact("Recorded in the repository of this name"),
  folder: Fact("Recorded in this folder, or below it"),
  branch: Fact("Recorded on this branch"),
  model: Fact("Whose last answers are this model's"),
  format: Type.Optional(SessionFormat),
  outcome: Type.Optional(Outcome),
  since: Day("Recorded on this day of UTC or later"),
  until: Day("Recorded on this day of UTC or before"),
  trained: Type.Optional(Type.Boolean({ description: "Whether an adapter was trained on it that is not archived" })),
};
const SessionLabel = Strict({ outcome: Outcome });

export const sessionRoutes = (app: App, { deps: { sessions } }: Deps): void => {
  app.get(
    "/sessions",
    {
      schema: {
        tags: ["sessions"],
        summary: "Stored sessions: those put there by hand, then the others by when they were recorded, newest first",
        querystring: Strict({ limit: Limit, after: Text, search: Search, prefix: Prefix, ...Filters }),
        response: { 200: answer("A page of sessions", SessionList) },
      },
    },
    async ({ query: { limit = DEFAULT_LIMIT, ...query } }) => sessions.list({ limit, ...query }),
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
    async ({ params: { session_id: sessionId } }) => sessions.summary(sessionId),
  );

  app.get(
    "/sessions/:session_id/content",
    {
      schema: {
        tags: ["sessions"],
        summary: "A stored session as it is trained on: canonical, redacted",
        params,
        response: { 200: answer("The session", Session), ...problems("SESSION_NOT_FOUND", "SESSION_INVALID") },
      },
    },
    async ({ params: { session_id: sessionId } }, reply) =>
      reply.type("application/json; charset=utf-8").send(await sessions.content(sessionId)),
  );

  app.patch(
    "/sessions/:session_id",
    {
      schema: {
        tags: ["sessions"],
        summary: "Say how a stored session ended",
        params,
        body: SessionLabel,
        response: { 200: answer("The session", SessionSummary), ...problems("SESSION_NOT_FOUND", "SESSION_INVALID") },
      },
    },
    async ({ params: { session_id: sessionId }, body: { outcome } }) => sessions.label(sessionId, outcome),
  );

  app.delete(
    "/sessions/:session_id",
    {
      schema: {
        tags: ["sessions"],
        summary: "Delete a stored session",
        params,
        response: { 204: noContent("Deleted"), ...problems("SESSION_NOT_FOUND", "SESSION_INVALID") },
      },
    },
    async ({ params: { session_id: sessionId } }, reply) => {
      await sessions.delete(sessionId);
      return reply.code(204).send();
    },
  );
};

import { Project, ProjectEvent, ProjectList, ProjectRunRequest, ProjectRunStart, RollbackRequest } from "@imprint/contracts";
import { Type } from "typebox";
import type { Streams } from "../../events/streams.js";
import type { App } from "../../http/app.js";
import { EVENT_STREAM_HEADERS, lastEventId } from "../../http/event-stream.js";
import { answer, BASE_MODEL, eventStream, idParams, noContent, problems, QUEUED, startBody, TESTED } from "../../http/schemas.js";
import type { Idempotency } from "../../launch/idempotency.js";
import { callOf } from "../../launch/start.js";
import type { Projects } from "../../projects/projects.js";

interface Deps {
  readonly projects: Projects;
  readonly idempotency: Idempotency;
  readonly streams: Streams;
}

const params = idParams("name");
/** Sessions that are new to a project are read. */
const TIMEOUT_MS = 300_000;
/** As many ids as a run may name, each as long as one may be. */
const RUN_BYTES = 16 * 1024 * 1024;

/** `/projects`: sessions that belong together, and the adapters that were trained on them. */
export const projectRoutes = (app: App, { projects, idempotency, streams }: Deps): void => {
  const { body, validatorCompiler } = startBody(ProjectRunRequest);

  app.get(
    "/projects",
    {
      schema: {
        tags: ["projects"],
        summary: "Every project with its last run, newest first",
        response: { 200: answer("The projects", ProjectList) },
      },
    },
    async () => ({ projects: await projects.list() }),
  );

  app.get(
    "/projects/:name",
    {
      schema: {
        tags: ["projects"],
        summary: "A project with its runs, newest first",
        params,
        response: { 200: answer("The project", Project), ...problems("PROJECT_NOT_FOUND") },
      },
    },
    async ({ params: { name } }) => projects.get(name),
  );

  app.delete(
    "/projects/:name",
    {
      schema: {
        tags: ["projects"],
        summary: "Forget a project, its runs and its latest; its sessions and adapters stay",
        params,
        response: { 204: noContent("Deleted"), ...problems("PROJECT_NOT_FOUND", "PROJECT_BUSY") },
      },
    },
    async ({ params: { name } }, reply) => {
      await projects.remove(name);
      return reply.code(204).send();
    },
  );

  app.post(
    "/projects/:name/runs",
    {
      validatorCompiler,
      config: { timeoutMs: TIMEOUT_MS },
      bodyLimit: RUN_BYTES,
      schema: {
        tags: ["projects"],
        summary:
          "Train an adapter on what is new, test it, and make it the latest unless it harms; makes the project at the first call",
        params,
        body,
        response: {
          202: answer("The run has begun", ProjectRunStart),
          200: answer("There is nothing to train", ProjectRunStart),
          ...problems("PROJECT_NOT_FOUND", "PROJECT_BUSY", ...TESTED, ...BASE_MODEL, ...QUEUED),
        },
      },
    },
    async (request, reply) => {
      const started = await idempotency.once(callOf(request), () => projects.start(request.params.name, request.body));
      return reply.code(started.run === null ? 200 : 202).send(started);
    },
  );

  app.post(
    "/projects/:name/rollback",
    {
      schema: {
        tags: ["projects"],
        summary: "Point the latest at an earlier adapter of the project",
        params,
        body: Type.Union([Type.Null(), RollbackRequest]),
        response: { 200: answer("The project", Project), ...problems("PROJECT_NOT_FOUND", "ROLLBACK_IMPOSSIBLE") },
      },
    },
    async ({ params: { name }, body: request }) => projects.rollback(name, request ?? {}),
  );

  app.get(
    "/projects/:name/events",
    {
      // As those of jobs: a HEAD would follow a project, to say nothing.
      exposeHeadRoute: false,
      schema: {
        tags: ["projects"],
        summary: "The project at every change, as they happen",
        params,
        response: {
          200: eventStream("What the data of each event holds", ProjectEvent),
          ...problems("PROJECT_NOT_FOUND", "VALIDATION_FAILED", "TOO_MANY_STREAMS"),
        },
      },
    },
    async (request, reply) => {
      const after = lastEventId(request);
      const source = await projects.source(request.params.name);
      return reply.headers(EVENT_STREAM_HEADERS).send(streams.open(source, { after, response: reply.raw }));
    },
  );
};

import { JobEvent, JobsEvent } from "@imprint/contracts";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { History, Source } from "../../events/history.js";
import type { Streams } from "../../events/streams.js";
import type { App } from "../../http/app.js";
import { EVENT_STREAM_HEADERS, lastEventId } from "../../http/event-stream.js";
import { eventStream, idParams, noContent, problems } from "../../http/schemas.js";
import type { Jobs } from "../../jobs/jobs.js";
import { findJob } from "./jobs.js";

interface Deps {
  readonly jobs: Jobs;
  readonly history: History;
  readonly streams: Streams;
}

const params = idParams("job_id");

/** Streams answer no HEAD: that would follow a job, to say nothing. */
const options = { exposeHeadRoute: false };

/** `GET /jobs/{id}/events` and `GET /jobs/events`: server-sent events, of one job and of all. */
export const jobEventRoutes = (app: App, { jobs, history, streams }: Deps): void => {
  app.addHook("preClose", () => streams.close());

  const send = (source: Source, request: FastifyRequest, reply: FastifyReply): FastifyReply => {
    const after = lastEventId(request);
    // Browsers connect again whenever a stream ends, until they get a 204.
    if (source.ended() && after === source.feed.last()) return reply.code(204).send();
    const stream = streams.open(source, { after, response: reply.raw });
    return reply.headers(EVENT_STREAM_HEADERS).send(stream);
  };

  app.get(
    "/jobs/:job_id/events",
    {
      ...options,
      schema: {
        tags: ["jobs"],
        summary: "A job's events as they happen, until it ends",
        params,
        response: {
          200: eventStream("What the data of each event holds", JobEvent),
          204: noContent("The job has ended, and Last-Event-ID is its last event"),
          ...problems("JOB_NOT_FOUND", "VALIDATION_FAILED", "TOO_MANY_STREAMS"),
        },
      },
    },
    (request, reply) => {
      const { job_id } = findJob(jobs, request.params.job_id);
      const source = history.ofJob(job_id);
      if (!source) throw new Error(`job ${job_id} has no history`);
      return send(source, request, reply);
    },
  );

  app.get(
    "/jobs/events",
    {
      ...options,
      schema: {
        tags: ["jobs"],
        summary: "The events of all jobs as they happen",
        response: {
          200: eventStream("What the data of each event holds", JobsEvent),
          ...problems("VALIDATION_FAILED", "TOO_MANY_STREAMS"),
        },
      },
    },
    (request, reply) => send(history.ofAll, request, reply),
  );
};

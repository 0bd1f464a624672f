import { JobDetails, JobList, JobRecord, JobStatus, Resubmitted, Strict } from "@imprint/contracts";
import { Type } from "typebox";
import { ProblemError, quote } from "../../common/error.js";
import type { App } from "../../http/app.js";
import { answer, DEFAULT_LIMIT, idParams, Limit, NoBody, Prefix, problems, Text } from "../../http/schemas.js";
import { type Job, toDetails, toListed, toRecord } from "../../jobs/job.js";
import type { Jobs } from "../../jobs/jobs.js";
import type { KindDeps } from "../../kinds/deps.js";
import { findLeft, resubmit } from "../../launch/left.js";
import { callOf, type LaunchDeps } from "../../launch/start.js";

interface Deps extends LaunchDeps {
  readonly deps: KindDeps;
}

/** The job of a path. Throws ProblemError JOB_NOT_FOUND. */
export const findJob = (jobs: Jobs, jobId: string): Job => {
  const job = jobs.get(jobId);
  if (!job)
    throw new ProblemError("JOB_NOT_FOUND", `There is no job ${quote(jobId)}: jobs live in memory, and a restart forgets them.`);
  return job;
};

const params = idParams("job_id");
const JobQuery = Strict({ status: Type.Optional(JobStatus), limit: Limit, after: Text, prefix: Prefix });

export const jobRoutes = (app: App, services: Deps): void => {
  const { jobs } = services;
  const { paths } = services.deps;

  app.get(
    "/jobs",
    {
      schema: {
        tags: ["jobs"],
        summary: "Jobs, newest first",
        querystring: JobQuery,
        response: { 200: answer("A page of jobs", JobList) },
      },
    },
    async ({ query: { status, limit = DEFAULT_LIMIT, after, prefix } }) => {
      const page = jobs.list({ status, limit, after, prefix });
      return { jobs: page.jobs.map(toListed), next: page.next, counts: jobs.counts(), left: await findLeft(paths, jobs) };
    },
  );

  app.post(
    "/jobs/resubmit",
    {
      schema: {
        tags: ["jobs"],
        summary: "Start the jobs that waited when the service stopped",
        body: NoBody,
        response: { 202: answer("What became of them", Resubmitted), ...problems("IDEMPOTENCY_CONFLICT", "SHUTTING_DOWN") },
      },
    },
    async (request, reply) => {
      const again = (): Promise<Resubmitted> => resubmit({ paths, transact: (work) => request.transact(work) }, services);
      return reply.code(202).send(await services.idempotency.once(callOf(request), again));
    },
  );

  app.get(
    "/jobs/:job_id",
    {
      schema: {
        tags: ["jobs"],
        summary: "A job's status",
        params,
        response: { 200: answer("The job", JobRecord), ...problems("JOB_NOT_FOUND") },
      },
    },
    async (request) => toRecord(findJob(jobs, request.params.job_id)),
  );

  app.get(
    "/jobs/:job_id/details",
    {
      schema: {
        tags: ["jobs"],
        summary: "Everything known about a job",
        params,
        response: { 200: answer("The job", JobDetails), ...problems("JOB_NOT_FOUND") },
      },
    },
    async (request) => {
      const job = findJob(jobs, request.params.job_id);
      return toDetails(job, jobs.queuePosition(job.job_id));
    },
  );

  app.post(
    "/jobs/:job_id/cancel",
    {
      schema: {
        tags: ["jobs"],
        summary: "Ask for the end of a job",
        params,
        body: NoBody,
        response: { 202: answer("The job will end", JobRecord), ...problems("JOB_NOT_FOUND", "JOB_FINISHED") },
      },
    },
    async (request, reply) => reply.code(202).send(toRecord(jobs.cancel(findJob(jobs, request.params.job_id).job_id))),
  );
};

import {
  FineTuningCheckpoint,
  FineTuningEvent,
  type FineTuningHyperparameters,
  FineTuningJob,
  FineTuningRequest,
  listOf,
  MULTIPLIED_RATE,
  PageQuery,
  type TrainLoraRequest,
} from "@imprint/contracts";
import { fieldRefused, ProblemError, quote } from "../../common/error.js";
import type { App } from "../../http/app.js";
import { answer, idParams, NoBody } from "../../http/schemas.js";
import type { KindDeps } from "../../kinds/deps.js";
import { type Randomness, resolveLora } from "../../kinds/resolve.js";
import { type LaunchDeps, startJob } from "../../launch/start.js";
import { fallbackName, locateBaseModel } from "../../models/base-model.js";
import { inTransaction } from "../../storage/transaction.js";
import { filesRoutes, requireUpload } from "./files.js";
import type { FineTunes, KnownFineTune } from "./fine-tunes.js";
import { eventId, fineTuningId, jobIdOf, pageOf, toCheckpoints, toEvent, toJob } from "./objects.js";
import { createTrainingFiles } from "./training-file.js";

interface Deps extends LaunchDeps {
  readonly fineTunes: FineTunes;
  readonly deps: KindDeps;
  readonly random: Randomness;
}

/** The hyperparameters, wherever they stand. Throws ProblemError. */
const hyperparametersOf = ({ method, hyperparameters }: FineTuningRequest): FineTuningHyperparameters => {
  const ofMethod = method?.supervised?.hyperparameters;
  if (ofMethod && hyperparameters) throw fieldRefused("hyperparameters", "cannot stand beside method, its newer place");
  const chosen = ofMethod ?? hyperparameters ?? {};
  if (chosen.batch_size !== undefined && chosen.batch_size !== "auto")
    throw fieldRefused(
      ofMethod ? "method.supervised.hyperparameters.batch_size" : "hyperparameters.batch_size",
      'must be "auto": the trainer chooses it from the length of the data',
    );
  return chosen;
};

/** The training that a fine-tune asks for, on sessions that its file became. */
const trainingOf = (
  request: FineTuningRequest,
  { n_epochs = "auto", learning_rate_multiplier: multiplier = "auto" }: FineTuningHyperparameters,
  { sessionIds, random }: { readonly sessionIds: readonly string[]; readonly random: { readonly suffix: () => string } },
): TrainLoraRequest => {
  const { suffix, seed, metadata } = request;
  return {
    session_ids: [...sessionIds],
    base_model: request.model,
    holdout: "none", // OpenAI's API trains on the whole of a training file
    adapter_id: ["ft", ...(suffix == null ? [] : [suffix]), random.suffix()].join("-"),
    ...(seed != null && { seed }),
    ...(n_epochs !== "auto" && { epochs: n_epochs }),
    ...(multiplier !== "auto" && { learning_rate: multiplier * MULTIPLIED_RATE }),
    ...(metadata != null && { metadata: metadata as Record<string, string> }),
  };
};

const params = idParams("id");
const tags = ["fine-tuning"];
const job200 = { 200: answer("The fine-tuning job", FineTuningJob) };

/** `/v1/files`, and `/v1/fine_tuning/jobs`: LoRA trainings as OpenAI's clients start and follow them. */
export const fineTuningRoutes = (app: App, services: Deps): void => {
  const { jobs, fineTunes, deps, random } = services;

  filesRoutes(app, services);
  const importTrainingFile = createTrainingFiles(deps);

  const find = (id: string): KnownFineTune => {
    const found = fineTunes.get(jobIdOf(id) ?? "");
    if (found) return found;
    throw new ProblemError(
      "JOB_NOT_FOUND",
      `There is no fine-tuning job ${quote(id)}: jobs live in memory, and a restart forgets them.`,
    );
  };
  const show = (id: string) => toJob(find(id), deps.now());

  app.post(
    "/v1/fine_tuning/jobs",
    { schema: { tags, summary: "Fine-tune a base model on an uploaded file", body: FineTuningRequest, response: job200 } },
    async (request) => {
      const { body } = request;
      // Nothing of the import is in a transaction: there is one connection, and a large file takes seconds.
      const { file_id } = await inTransaction(deps.database, (db) => requireUpload(db, body.training_file));
      locateBaseModel(body.model, deps.models);
      const hyperparameters = hyperparametersOf(body);
      const sessionIds = await importTrainingFile(file_id);
      // Whoever left, or was told that it takes too long, asks again: nobody wants this job.
      request.cancelled.throwIfAborted();
      const training = resolveLora(trainingOf(body, hyperparameters, { sessionIds, random }), {
        baseModel: fallbackName(deps.models),
        random,
      });
      const { job_id } = await startJob(request, { kind: "lora", request: training }, services);
      fineTunes.add(job_id, {
        training_file: file_id,
        suffix: body.suffix ?? null,
        // As asked for: the job knows the learning rate, and not whether it was chosen.
        learning_rate_multiplier: hyperparameters.learning_rate_multiplier ?? "auto",
        before: [
          `Created fine-tuning job: ${fineTuningId(job_id)}`,
          `Validated training file ${file_id}: ${sessionIds.length} conversations`,
          "Job enqueued",
        ],
      });
      return show(fineTuningId(job_id));
    },
  );

  app.get(
    "/v1/fine_tuning/jobs",
    {
      schema: {
        tags,
        summary: "Fine-tuning jobs, newest first",
        querystring: PageQuery,
        response: { 200: answer("A page", listOf(FineTuningJob)) },
      },
    },
    async ({ query: { after, limit } }) => {
      // Ids grow with time, so the place of one that is forgotten is still known.
      const following = fineTunes
        .ids()
        .map(fineTuningId)
        .filter((id) => after === undefined || id < after);
      return pageOf(following.map(show), limit);
    },
  );

  app.get(
    "/v1/fine_tuning/jobs/:id",
    { schema: { tags, summary: "A fine-tuning job", params, response: job200 } },
    async (request) => show(request.params.id),
  );

  app.post(
    "/v1/fine_tuning/jobs/:id/cancel",
    { schema: { tags, summary: "Ask for the end of a fine-tuning job", params, body: NoBody, response: job200 } },
    async (request) => {
      jobs.cancel(find(request.params.id).job.job_id);
      return show(request.params.id);
    },
  );

  app.get(
    "/v1/fine_tuning/jobs/:id/events",
    {
      schema: {
        tags,
        summary: "What happened to a fine-tuning job, newest first",
        params,
        querystring: PageQuery,
        response: { 200: answer("A page", listOf(FineTuningEvent)) },
      },
    },
    async ({ params: { id }, query: { after, limit } }) => {
      const { job_id } = find(id).job;
      // By its number: the event itself may be thinned out by now.
      const place = after === undefined ? Number.POSITIVE_INFINITY : Number(after.slice(eventId(job_id, 0).length - 1));
      const following = fineTunes.events(job_id).filter(({ number }) => number < place);
      return pageOf(
        following.map((event) => toEvent(job_id, event)),
        limit,
      );
    },
  );

  app.get(
    "/v1/fine_tuning/jobs/:id/checkpoints",
    {
      schema: {
        tags,
        summary: "The adapters of a fine-tuning job",
        params,
        querystring: PageQuery,
        response: { 200: answer("A page", listOf(FineTuningCheckpoint)) },
      },
    },
    async ({ params: { id }, query: { after, limit } }) =>
      pageOf(
        toCheckpoints(find(id).job).filter((checkpoint) => checkpoint.id !== after),
        limit,
      ),
  );
};

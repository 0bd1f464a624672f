import type { JobKind } from "@imprint/contracts";
import Fastify from "fastify";
import { expect, test } from "vitest";
import type { App } from "../../src/http/app.js";
import { addErrors } from "../../src/http/errors.js";
import { compilers } from "../../src/http/schemas.js";
import { createJobs } from "../../src/jobs/create-jobs.js";
import { createIds } from "../../src/jobs/ids.js";
import type { Job } from "../../src/jobs/job.js";
import type { Kind } from "../../src/jobs/kind.js";
import type { KindDeps } from "../../src/kinds/deps.js";
import { createIdempotency } from "../../src/launch/idempotency.js";
import { jobRoutes } from "../../src/routes/jobs/jobs.js";
import { dataPaths } from "../../src/storage/paths.js";
import { manualClock } from "../common/manual-clock.js";
import { quietLog } from "../common/quiet-log.js";
import { makeFolder } from "../support/service.js";

const TOY = "toy" as JobKind;

type Sum = { readonly numbers: readonly number[] };

/** A kind that needs no trainer and makes no adapter: it adds numbers. */
const toyKind = (
  steps: string[],
): Kind<Sum, readonly number[], { readonly sum: number; readonly warnings: readonly string[] }> => ({
  reserves: () => null,
  async prepare({ job_id, request }) {
    steps.push(`prepare ${job_id}`);
    return request.numbers;
  },
  async run(numbers, { onEvent, signal }) {
    signal.throwIfAborted();
    onEvent({ type: "phase", job_id: "", phase: "generating" });
    return { sum: numbers.reduce((sum, one) => sum + one, 0), warnings: ["only whole numbers"] };
  },
  async finish({ job, result }) {
    steps.push(`finish ${job.phase} ${result.sum}`);
  },
  async discard(_job, { registered }) {
    steps.push(`discard ${registered}`);
  },
  shows: (_request, { sum }) => ({ adapter_id: null, proof: null, result: { sum } as never }),
});

test("a kind that nothing else knows goes through jobs, and the calls show it", async () => {
  const clock = manualClock();
  const steps: string[] = [];
  const toy = toyKind(steps) as Kind;
  const runner = { adopt: async () => null, release: async () => {}, start: () => expect.unreachable() };
  const limits = { slots: 1, maxQueued: 1, keepFinished: 1, keepFinishedMs: 1e9, maxJobMs: 1e9 };
  const kinds = { lora: toy, sweep: toy, hypernetwork: toy, export: toy, evaluate: toy, pull: toy, [TOY]: toy };
  const jobs = createJobs({ kinds, runner, clock, newId: createIds({ clock }), limits, log: quietLog() });
  const app = Fastify({ schemaController: { compilersFactory: compilers } }) as unknown as App;
  addErrors(app);
  const deps = { paths: dataPaths(makeFolder()) } as KindDeps;
  jobRoutes(app, { jobs, deps, kinds: kinds as never, idempotency: createIdempotency({ capacity: 1 }) });

  const { job_id } = jobs.submit({ kind: TOY, request: { numbers: [1, 2, 4] } });
  const phases: Job["phase"][] = [];
  jobs.subscribe(({ phase }) => phases.push(phase));
  clock.advance(0);
  await jobs.close(1e6);

  expect(steps).toEqual([`prepare ${job_id}`, "finish registering 7", "discard true"]);
  expect(phases).toEqual(["starting", "generating", "registering", "registering"]);
  expect((await app.inject(`/jobs/${job_id}`)).json()).toEqual({ job_id, status: "completed", adapter_id: null });
  expect((await app.inject(`/jobs/${job_id}/details`)).json()).toMatchObject({
    kind: "toy",
    request: { numbers: [1, 2, 4] },
    result: { sum: 7 },
    proof: null,
    warnings: ["only whole numbers"],
  });
});

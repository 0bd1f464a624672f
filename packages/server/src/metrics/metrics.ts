import { JOB_STATUSES, type Progress, VERSION } from "@imprint/contracts";
import { Counter, Gauge, Histogram, Registry } from "prom-client";
import type { Streams } from "../events/streams.js";
import type { Job } from "../jobs/job.js";
import type { Jobs } from "../jobs/jobs.js";
import { isTerminal } from "../jobs/status.js";
import type { Database } from "../storage/schema.js";

/** A second to a day: a hypernetwork job takes seconds, a training minutes or hours. */
const DURATION_BUCKETS = [1, 5, 15, 30, 60, 120, 300, 600, 1_800, 3_600, 7_200, 21_600, 86_400];

/** A request that was answered, or whose client left before. */
export interface HttpRequest {
  readonly method: string;
  /** The route's pattern, so that ids make no series of their own. */
  readonly route: string;
  readonly status: number;
}

export interface Metrics {
  onRequest(request: HttpRequest): void;
  onWorkerStart(): void;
  /** Counts the jobs that happen from now on, and looks at the rest when asked. */
  observe(sources: { readonly jobs: Jobs; readonly streams: Streams; readonly database: Database }): void;
  /** Everything, in Prometheus' text format. */
  text(): Promise<string>;
  readonly contentType: string;
}

const seconds = ({ started_at, finished_at }: Job): number | null =>
  started_at === null || finished_at === null ? null : (Date.parse(finished_at) - Date.parse(started_at)) / 1000;

/** What the service counts. docs/operations.md lists it, a test compares. */
export const createMetrics = (): Metrics => {
  const registry = new Registry();
  const registers = [registry];
  const requests = new Counter({
    name: "imprint_http_requests_total",
    help: "HTTP requests that were answered, or whose client left",
    labelNames: ["method", "route", "status"],
    registers,
  });
  const starts = new Counter({ name: "imprint_trainer_starts_total", help: "Trainer processes that were started", registers });
  new Gauge({ name: "imprint_info", help: "Always 1", labelNames: ["version"], registers }).set({ version: VERSION }, 1);
  new Gauge({
    name: "process_resident_memory_bytes",
    help: "Memory of the service's process, without its trainers",
    registers,
    collect() {
      this.set(process.memoryUsage.rss());
    },
  });

  return {
    onRequest: (request) => requests.inc({ ...request }),
    onWorkerStart: () => starts.inc(),
    observe({ jobs, streams, database }) {
      const durations = new Histogram({
        name: "imprint_job_duration_seconds",
        help: "Time from a job's start to its end",
        labelNames: ["kind", "status"],
        buckets: DURATION_BUCKETS,
        registers,
      });
      const tokens = new Counter({
        name: "imprint_supervised_tokens_total",
        help: "Tokens that trainings learned from, each as often as it was read",
        registers,
      });
      const counted = new WeakSet<Progress>();
      jobs.subscribe((job) => {
        const { progress } = job;
        if (progress !== null && !counted.has(progress)) {
          counted.add(progress);
          tokens.inc(progress.supervised_tokens);
        }
        const took = isTerminal(job.status) ? seconds(job) : null;
        if (took !== null) durations.observe({ kind: job.kind, status: job.status }, took);
      });
      new Gauge({
        name: "imprint_jobs",
        help: "Jobs that are remembered, by status",
        labelNames: ["status"],
        registers,
        collect() {
          const counts = jobs.counts();
          for (const status of JOB_STATUSES) this.set({ status }, counts[status]);
        },
      });
      new Gauge({
        name: "imprint_queue_depth",
        help: "Jobs that wait for a slot",
        registers,
        collect() {
          this.set(jobs.counts().queued);
        },
      });
      new Gauge({
        name: "imprint_event_streams",
        help: "Event streams that are open",
        registers,
        collect() {
          this.set(streams.count());
        },
      });
      new Gauge({
        name: "imprint_adapters",
        help: "Adapters that are registered and not archived",
        registers,
        async collect() {
          const { count } = await database
            .selectFrom("adapters")
            .select(({ fn }) => fn.countAll<number>().as("count"))
            .where("archived_at", "is", null)
            .executeTakeFirstOrThrow();
          this.set(Number(count));
        },
      });
    },
    text: () => registry.metrics(),
    contentType: registry.contentType,
  };
};

import { JOB_STATUSES, type Progress, VERSION } from "@imprint/contracts";
import { Counter, Gauge, Histogram, Registry } from "prom-client";
import type { Clock } from "../common/clock.js";
import type { Streams } from "../events/streams.js";
import type { Job } from "../jobs/job.js";
import type { Jobs } from "../jobs/jobs.js";
import { isTerminal } from "../jobs/status.js";
import type { Database } from "../storage/schema.js";

/** A second to a day: a hypernetwork job takes seconds, a training minutes or hours. */
const DURATION_BUCKETS = [1, 5, 15, 30, 60, 120, 300, 600, 1_800, 3_600, 7_200, 21_600, 86_400];

/** What the database is given to answer: Prometheus waits ten seconds, and the other figures are known. */
const DATABASE_MS = 1_000;

/** A request that was answered, or whose client left before. */
interface HttpRequest {
  readonly method: string;
  /** The route's pattern, so that ids make no series of their own. */
  readonly route: string;
  readonly status: number;
}

interface Sources {
  readonly jobs: Pick<Jobs, "subscribe" | "counts">;
  readonly streams: Pick<Streams, "count">;
  readonly database: Database;
  readonly clock: Pick<Clock, "after">;
}

export interface Metrics {
  onRequest(request: HttpRequest): void;
  onWorkerStart(): void;
  /** Counts the jobs that happen from now on, and looks at the rest when asked. */
  observe(sources: Sources): void;
  /** Everything, in Prometheus' text format. */
  text(): Promise<string>;
  readonly contentType: string;
}

const seconds = ({ started_at, finished_at }: Job): number | null =>
  started_at === null || finished_at === null ? null : (Date.parse(finished_at) - Date.parse(started_at)) / 1000;

/** The figure, or null where the database fails or does not answer in time. */
const inTime = (figure: Promise<number>, clock: Pick<Clock, "after">): Promise<number | null> =>
  new Promise((resolve) => {
    const disarm = clock.after(DATABASE_MS, () => resolve(null));
    figure.then(resolve, () => resolve(null)).finally(disarm);
  });

const countAdapters = async (database: Database): Promise<number> => {
  const { count } = await database
    .selectFrom("adapters")
    .select(({ fn }) => fn.countAll<number>().as("count"))
    .where("archived_at", "is", null)
    .executeTakeFirstOrThrow();
  return Number(count);
};

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
    observe({ jobs, streams, database, clock }) {
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
          const count = await inTime(countAdapters(database), clock);
          if (count === null) this.remove();
          else this.set(count);
        },
      });
    },
    text: () => registry.metrics(),
    contentType: registry.contentType,
  };
};

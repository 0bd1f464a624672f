import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { createMetrics } from "../../src/metrics/metrics.js";
import { openDatabase } from "../../src/storage/open.js";
import type { Database } from "../../src/storage/schema.js";
import { manualClock } from "../common/manual-clock.js";
import { makeFolder, startLora, startService } from "../support/service.js";
import { putSession } from "../support/session.js";

const read = (name: string): string => readFileSync(new URL(`../../../../docs/${name}`, import.meta.url), "utf8");

/** The value of a series, as it is written. */
const seriesIn = (text: string, series: string): number | undefined => {
  const line = text.split("\n").find((one) => one.startsWith(`${series} `));
  return line === undefined ? undefined : Number(line.slice(series.length + 1));
};

test("jobs, tokens, requests, streams and adapters are counted as they happen", async () => {
  const service = await startService({ behaviour: { steps: 3 } });
  putSession(service.dataDir, "s1");
  const scrape = async (): Promise<string> => (await service.get("/metrics")).body;
  expect(seriesIn(await scrape(), "imprint_trainer_starts_total")).toBe(0);

  await service.ended(await startLora(service, { session_id: "s1" }));
  await service.ended(await startLora(service, { session_id: "nowhere" }));
  const stream = new AbortController();
  await fetch(`${service.url}/jobs/events`, { signal: stream.signal });
  expect((await service.get("/jobs/01nobody")).statusCode).toBe(404);
  expect((await service.get("/nothing")).statusCode).toBe(404);

  const text = await scrape();
  const values = Object.fromEntries(
    [
      'imprint_jobs{status="completed"}',
      'imprint_jobs{status="failed"}',
      'imprint_jobs{status="queued"}',
      "imprint_queue_depth",
      'imprint_job_duration_seconds_count{kind="lora",status="completed"}',
      'imprint_job_duration_seconds_count{kind="lora",status="failed"}',
      "imprint_supervised_tokens_total",
      "imprint_trainer_starts_total",
      'imprint_http_requests_total{method="POST",route="/train/lora",status="200"}',
      'imprint_http_requests_total{method="GET",route="/jobs/:job_id",status="404"}',
      'imprint_http_requests_total{method="GET",route="none",status="404"}',
      "imprint_event_streams",
      "imprint_adapters",
    ].map((series) => [series, seriesIn(text, series)]),
  );
  // The fixture trainer's steps supervise 60 tokens each.
  expect(Object.values(values), JSON.stringify(values)).toEqual([1, 1, 0, 0, 1, 1, 180, 1, 2, 1, 1, 1, 1]);
  expect(seriesIn(text, "process_resident_memory_bytes")).toBeGreaterThan(10_000_000);

  stream.abort();
  const left = 'imprint_http_requests_total{method="GET",route="/jobs/events",status="200"}';
  await vi.waitFor(async () => expect(seriesIn(await scrape(), left)).toBe(1));
});

test("the answer describes every metric, and the Grafana dashboard asks for no other", async () => {
  const service = await startService();
  const { body, headers } = await service.get("/metrics");
  expect(headers["content-type"]).toContain("text/plain");
  const metrics = [...body.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name, type]) => `${name} ${type}`);
  const described = [...body.matchAll(/^# HELP (\S+) \S+ \S/gm)].map(([, name]) => name);
  expect(described).toEqual(metrics.map((line) => line.split(" ", 1)[0]));

  const asked = [...read("grafana.json").matchAll(/\b(?:imprint|process)_\w+/g)].map(([name]) =>
    name.replace(/_(bucket|count|sum)$/, ""),
  );
  const names = metrics.map((line) => line.split(" ", 1)[0]);
  expect(asked.filter((name) => !names.includes(name))).toEqual([]);
  expect(new Set(asked).size).toBe(names.length - 1);
});

test.each<[string, (database: Database) => Promise<unknown>]>([
  ["fails", (database) => database.destroy()],
  ["does not answer", (database) => database.startTransaction().execute()], // the one connection is taken
])("where the database %s everything else is told", async (_how, disturb) => {
  const clock = manualClock();
  const database = openDatabase({ path: join(makeFolder(), "registry.db") });
  const metrics = createMetrics();
  const counts = { queued: 2, running: 1, completed: 0, failed: 0, cancelled: 0 };
  const jobs = { subscribe: () => () => {}, counts: () => counts };
  metrics.observe({ jobs, streams: { count: () => 3 }, database, clock });
  expect(seriesIn(await metrics.text(), "imprint_adapters")).toBe(0);

  await disturb(database);
  const scrape = metrics.text();
  await vi.waitFor(() => expect(clock.armed()).toBe(1));
  clock.advance(1_000);
  const text = await scrape;
  expect(["imprint_adapters", "imprint_queue_depth", "imprint_event_streams"].map((name) => seriesIn(text, name))).toEqual([
    undefined,
    2,
    3,
  ]);
});

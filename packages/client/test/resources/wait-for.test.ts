import { describe, expect, it } from "vitest";
import { AbortError, NotFoundError } from "../../src/index.js";
import { problem, type Reply, service } from "../support/service.js";

/** A service that knows no events: it is looked at instead. */
const noEvents = problem(404, "NOT_FOUND", "There is nothing at /jobs/01/events.");
const job = (version: number, status: string): Reply => ({ status: 200, body: { job_id: "01", status, version } });

describe("jobs.waitFor without events", () => {
  it.each(["completed", "failed", "cancelled"])("resolves with a job that is %s", async (status) => {
    const { client, seen } = await service([noEvents, job(1, "queued"), job(2, "running"), job(3, status)]);
    await expect(client.jobs.waitFor("01")).resolves.toMatchObject({ status, version: 3 });
    expect(seen.map((request) => request.url)).toEqual(["/jobs/01/events", ...Array(3).fill("/jobs/01/details")]);
  });

  it("reports each version once", async () => {
    const versions: number[] = [];
    const { client } = await service([
      noEvents,
      job(1, "queued"),
      job(1, "queued"),
      job(4, "running"),
      job(4, "running"),
      job(5, "completed"),
    ]);
    await client.jobs.waitFor("01", { onUpdate: (update) => versions.push(update.version) });
    expect(versions).toEqual([1, 4, 5]);
  });

  it("looks less often while nothing changes, up to a limit, and more often again after a change", async () => {
    const still = Array<Reply>(4).fill(job(1, "queued"));
    const { client, pauses } = await service([noEvents, ...still, job(2, "running"), job(3, "completed")]);
    await client.jobs.waitFor("01", { pollMs: { first: 100, longest: 300 } });
    expect(pauses).toEqual([100, 150, 225, 300, 100]);
  });

  it("stops looking when the signal aborts", async () => {
    const controller = new AbortController();
    const { client } = await service([noEvents, job(1, "running")]);
    const waiting = client.jobs.waitFor("01", { signal: controller.signal, onUpdate: () => controller.abort() });
    await expect(waiting).rejects.toBeInstanceOf(AbortError);
  });

  it("throws what a look throws", async () => {
    const { client } = await service([noEvents, job(1, "running"), problem(404, "JOB_NOT_FOUND", "Gone.")]);
    await expect(client.jobs.waitFor("01")).rejects.toBeInstanceOf(NotFoundError);
  });
});

const progress = {
  step: 1,
  steps: 2,
  epoch: 1,
  loss: 1,
  learning_rate: 1,
  grad_norm: 1,
  tokens_per_second: 1,
  supervised_tokens: 1,
  eta_seconds: 1,
  peak_memory_mb: 1,
  held_out_loss: null,
};
const sse = (id: number, event: { readonly type: string; readonly [field: string]: unknown }): string =>
  `id: ${id}\nevent: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;
const lines = (first: number, last: number): string =>
  Array.from({ length: last - first + 1 }, (_, index) => `line ${first + index}\n`).join("");
const record = (version: number, status: string) => ({ job_id: "01", status, version });

describe("jobs.waitFor with events", () => {
  it("reports each version as it comes, and the log", async () => {
    const versions: number[] = [];
    const log: string[] = [];
    const { client, seen } = await service([
      {
        stream: [
          sse(1, { type: "snapshot", job: record(3, "running"), curve: [], log: "a\n" }),
          sse(2, { type: "log", job_id: "01", text: "b\n" }),
          sse(3, { type: "progress", job_id: "01", progress }),
          sse(4, { type: "status", job: record(5, "completed") }),
        ],
        close: "end",
      },
    ]);
    const options = {
      onUpdate: ({ version }: { version: number }) => versions.push(version),
      onLog: (text: string) => log.push(text),
    };
    await expect(client.jobs.waitFor("01", options)).resolves.toEqual(record(5, "completed"));
    expect([versions, log.join("")]).toEqual([[3, 4, 5], "a\nb\n"]);
    expect(seen.map(({ url }) => url)).toEqual(["/jobs/01/events"]);
  });

  it("tells no log line twice after a resync", async () => {
    const log: string[] = [];
    const { client } = await service([
      {
        stream: [
          sse(1, { type: "snapshot", job: record(3, "running"), curve: [], log: lines(1, 500) }),
          'event: resync\ndata: {"type":"resync","reason":"too slow"}\n\n',
          sse(9, { type: "snapshot", job: record(5, "completed"), curve: [], log: lines(100, 510) }),
        ],
        close: "end",
      },
    ]);
    await client.jobs.waitFor("01", { onLog: (text) => log.push(text) });
    expect(log.join("")).toBe(lines(1, 510));
  });

  it("looks at the job where streams are refused or break for good", async () => {
    const busy = problem(429, "TOO_MANY_STREAMS", "200 event streams are open.");
    for (const reply of [busy, "hang up"] as const) {
      const { client } = await service([reply, reply, reply, job(3, "completed")]);
      await expect(client.jobs.waitFor("01")).resolves.toMatchObject({ status: "completed" });
    }
  });

  it("throws what the caller's own function throws", async () => {
    const { client, seen } = await service([
      { stream: [sse(1, { type: "status", job: record(1, "running") })], close: "silence" },
    ]);
    const fault = new Error("of the caller");
    const waiting = client.jobs.waitFor("01", {
      onUpdate: () => {
        throw fault;
      },
    });
    await expect(waiting).rejects.toBe(fault);
    expect(seen).toHaveLength(1);
  });
});

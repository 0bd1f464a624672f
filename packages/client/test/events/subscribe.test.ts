import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import type { JobEvent } from "@imprint/contracts";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { AbortError, ConnectionError, type EventStream, NotFoundError, TimeoutError } from "../../src/index.js";
import { problem, service } from "../support/service.js";

const status = (id: number, state: string): string =>
  `id: ${id}\nevent: status\ndata: ${JSON.stringify({ type: "status", job: { job_id: "01", status: state, version: id } })}\n\n`;

const versions = async (events: EventStream<JobEvent>): Promise<readonly number[]> => {
  const seen: number[] = [];
  for await (const event of events) if (event.type === "status") seen.push(event.job.version);
  return seen;
};

it("goes on after the last event that was seen when the connection breaks, and ends with the job", async () => {
  const { client, seen, pauses } = await service([
    {
      stream: ["retry: 1000\n\n", status(11, "queued"), status(12, "running"), "id: 13\nevent: status\ndata: {"],
      close: "hang up",
    },
    { stream: [": heartbeat\n\n", status(13, "running")], close: "end" },
    problem(503, "SHUTTING_DOWN", "Closing.", { "retry-after": "2" }),
    { stream: [status(14, "completed")], close: "end" },
  ]);
  const connections: string[] = [];
  const events = client.jobs.events("01", { onConnection: (connection) => connections.push(connection) });
  expect(await versions(events)).toEqual([11, 12, 13, 14]);
  expect(connections).toEqual(["open", "lost", "open", "lost", "lost", "open"]);
  expect(events.lastEventId).toBe("14");
  expect(seen.map(({ headers }) => headers["last-event-id"])).toEqual([undefined, "12", "13", "13"]);
  expect(seen[0]?.headers.accept).toBe("text/event-stream");
  expect(pauses).toEqual([500, 500, 2_000]);
});

it("reads characters that are split between two pieces", async () => {
  const bytes = new TextEncoder().encode(
    `data: ${JSON.stringify({ type: "log", job_id: "01", text: "é✓" })}\n\n${status(2, "completed")}`,
  );
  const pieces = [...bytes].map((byte) => Uint8Array.of(byte));
  const { client } = await service([{ stream: pieces, close: "end" }]);
  const texts: string[] = [];
  for await (const event of client.jobs.events("01")) if (event.type === "log") texts.push(event.text);
  expect(texts).toEqual(["é✓"]);
});

it("begins after the event that it is given, and ends at once when nothing follows it", async () => {
  const { client, seen } = await service([{ status: 204 }]);
  expect(await versions(client.jobs.events("01", { lastEventId: "14" }))).toEqual([]);
  expect(seen.map(({ url, headers }) => [url, headers["last-event-id"]])).toEqual([["/jobs/01/events", "14"]]);
});

it("gives up after maxRetries connections in a row that brought nothing", async () => {
  const { client, seen } = await service([{ stream: [], close: "end" }], { maxRetries: 3 });
  await expect(versions(client.jobs.events("01"))).rejects.toBeInstanceOf(ConnectionError);
  expect(seen).toHaveLength(4);
});

it("throws a refusal that another attempt would not change", async () => {
  const { client, seen } = await service([problem(404, "JOB_NOT_FOUND", "No job 01.")]);
  await expect(versions(client.jobs.events("01"))).rejects.toBeInstanceOf(NotFoundError);
  expect(seen).toHaveLength(1);
});

it("says so when the answer is no event stream", async () => {
  const { client, seen } = await service([{ status: 200, body: {} }]);
  await expect(versions(client.jobs.events("01"))).rejects.toThrow("no event stream");
  expect(seen).toHaveLength(1);
});

describe("the limit of silence", () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] }));
  afterEach(() => void vi.useRealTimers());

  it("a connection without a sign of life counts as lost", async () => {
    const { client, seen } = await service([{ stream: [status(1, "running")], close: "silence" }]);
    const watching = (async () => {
      // The next read begins, and its silence with it, when this turn is over.
      for await (const _event of client.jobs.events("01", { maxRetries: 0 })) setImmediate(() => vi.advanceTimersByTime(45_000));
    })();
    await expect(watching).rejects.toBeInstanceOf(TimeoutError);
    expect(seen).toHaveLength(1);
  });

  it("a caller that takes its time with an event is no silence", async () => {
    const { client, seen } = await service([{ stream: [status(1, "running"), status(2, "completed")], close: "end" }]);
    const told: string[] = [];
    for await (const event of client.jobs.events("01", { maxRetries: 0 })) {
      told.push(event.type);
      vi.advanceTimersByTime(60_000);
    }
    expect([told.length, seen.length]).toEqual([2, 1]);
  });
});

it("the caller's signal ends the stream", async () => {
  const controller = new AbortController();
  const { client } = await service([{ stream: [status(1, "running")], close: "silence" }]);
  const watching = (async () => {
    for await (const _event of client.jobs.events("01", { signal: controller.signal })) controller.abort();
  })();
  await expect(watching).rejects.toBeInstanceOf(AbortError);
});

describe("after a garbage collection, at which Node 20 forgets the signal of a fetch", () => {
  setFlagsFromString("--expose-gc");
  const collect: () => void = runInNewContext("gc");
  const collectAll = async (): Promise<void> => {
    for (let turn = 0; turn < 10; turn += 1) {
      await new Promise((resolve) => setImmediate(resolve));
      collect();
    }
  };
  const silent = { stream: [status(1, "running")], close: "silence" } as const;

  it("the caller's signal still ends a stream that says nothing", async () => {
    const controller = new AbortController();
    const { client } = await service([silent]);
    const watching = (async () => {
      for await (const _event of client.jobs.events("01", { signal: controller.signal }))
        setImmediate(() => void collectAll().then(() => controller.abort()));
    })();
    await expect(watching).rejects.toBeInstanceOf(AbortError);
  });

  it("the caller's signal still ends a file that does not come to its end", async () => {
    const controller = new AbortController();
    const { client } = await service([silent]);
    const response = await client.adapters.file("gates", "adapter.safetensors", { signal: controller.signal });
    const text = response.text();
    await collectAll();
    controller.abort();
    await expect(text).rejects.toMatchObject({ name: "AbortError" });
  });

  it("the time limit still ends an answer that does not come to its end", async () => {
    const { client } = await service([silent], { timeoutMs: 300, maxRetries: 0 });
    const refused = expect(client.jobs.get("01")).rejects.toBeInstanceOf(TimeoutError);
    await collectAll();
    await refused;
  });
});

it("watches all jobs until the caller leaves", async () => {
  const { client, seen } = await service([{ stream: [status(1, "completed"), status(2, "completed")], close: "silence" }]);
  const told: string[] = [];
  for await (const event of client.jobs.watch()) {
    told.push(event.type);
    if (told.length === 2) break;
  }
  expect([told, seen[0]?.url]).toEqual([["status", "status"], "/jobs/events"]);
});

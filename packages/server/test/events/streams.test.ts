import { once } from "node:events";
import { IncomingMessage, ServerResponse } from "node:http";
import { Socket } from "node:net";
import { setImmediate as turn } from "node:timers/promises";
import { expect, test, vi } from "vitest";
import { manualClock } from "../common/manual-clock.js";
import { result, type Stage } from "../jobs/stage.js";
import type { Received } from "../support/events.js";
import { progressAt } from "../support/progress.js";
import { createEventStage, type EventStage } from "./stage.js";

const startJob = async (stage: Stage): Promise<string> => {
  const { job_id } = stage.submit();
  stage.actor(job_id).prepared.resolve();
  await stage.settle();
  return job_id;
};

const finish = async (stage: Stage, jobId: string): Promise<void> => {
  stage.actor(jobId).outcome.resolve({ type: "done", result });
  stage.actor(jobId).finished.resolve();
  await stage.settle();
};

const emit = (stage: Stage, job_id: string, from: number, count: number): void => {
  for (let step = from; step < from + count; step += 1)
    stage.actor(job_id).tell({ type: "progress", job_id, progress: progressAt(step) });
};

const idsOf = (events: readonly Received[]): readonly (number | null)[] => events.map(({ id }) => id);

/** Characters that wait in the service for one reader. */
const buffered = ({ response, payload }: EventStage["sent"][number]): number => response.writableLength + payload.readableLength;

test("a stream begins with a snapshot, tells everything in order, and ends after the terminal status", async () => {
  const { stage, connect } = await createEventStage();
  const jobId = await startJob(stage);
  stage.actor(jobId).tell({ type: "progress", job_id: jobId, progress: progressAt(1) });
  stage.actor(jobId).tell({ type: "log", job_id: jobId, text: "before\n" });
  const reader = await connect(`/jobs/${jobId}/events`);
  stage.actor(jobId).tell({ type: "log", job_id: jobId, text: "after\n" });
  emit(stage, jobId, 2, 2);
  await finish(stage, jobId);
  const events = await reader.read();
  expect(events.map(({ data }) => data)).toMatchObject([
    { type: "snapshot", job: { job_id: jobId, status: "running" }, curve: [{ step: 1 }], log: "before\n" },
    { type: "log", job_id: jobId, text: "after\n" },
    { type: "progress", progress: { step: 2 } },
    { type: "progress", progress: { step: 3 } },
    { type: "status", job: { phase: "registering" } },
    { type: "status", job: { status: "completed", adapter_id: "adapter-1" } },
  ]);
  const [first = 0] = idsOf(events);
  expect(idsOf(events)).toEqual(events.map((_, index) => Number(first) + index));
});

test("50 readers who do not read make nothing grow, and one that reads on gets a resync and then exactly what follows", async () => {
  const { stage, history, sent, connect } = await createEventStage();
  const jobId = await startJob(stage);
  const quick = await connect(`/jobs/${jobId}/events`);
  const everything = quick.read();
  const slow = await Promise.all(Array.from({ length: 50 }, () => connect(`/jobs/${jobId}/events`)));
  let most = 0;
  for (let step = 1; step <= 6_000; step += 20) {
    emit(stage, jobId, step, 20);
    await turn();
    most = Math.max(most, ...sent.map(buffered));
  }
  expect(history.size()).toBeLessThan(1.6 * 1024 * 1024);
  expect(most).toBeLessThan(128 * 1024);
  await finish(stage, jobId);

  const all = await everything;
  expect(idsOf(all)).toEqual(all.map((_, index) => Number(all[0]?.id) + index));
  const seen = (await slow[0]?.read()) ?? [];
  const at = seen.findIndex(({ data }) => data.type === "resync");
  expect(at).toBeGreaterThan(0);
  expect(seen[at]?.id).toBeNull();
  expect(seen[at + 1]?.data).toMatchObject({ type: "snapshot", curve: { 0: { step: 1 } } });
  const known = new Map(all.map((event) => [event.id, event.data]));
  for (const { id, data } of seen) if (data.type === "progress") expect(data).toEqual(known.get(id));
  const rest = seen.slice(at + 1);
  const last = rest.findLastIndex(({ data }) => data.type === "snapshot");
  expect(idsOf(rest.slice(last))).toEqual(rest.slice(last).map((_, index) => Number(rest[last]?.id) + index));
  expect(seen.at(-1)?.id).toBe(all.at(-1)?.id);
});

test("after any id the stream goes on with the exact suffix", async () => {
  const { stage, connect, app } = await createEventStage();
  const jobId = await startJob(stage);
  const whole = await connect(`/jobs/${jobId}/events`);
  emit(stage, jobId, 1, 8);
  await finish(stage, jobId);
  const events = await whole.read();
  for (const [index, { id }] of events.entries()) {
    const again = await app.inject({ url: `/jobs/${jobId}/events`, headers: { "last-event-id": String(id) } });
    if (index === events.length - 1) expect([again.statusCode, again.body]).toEqual([204, ""]);
    else expect(await (await connect(`/jobs/${jobId}/events`, Number(id))).read()).toEqual(events.slice(index + 1));
  }
});

test.each([["1", "from another run"]])("an id %s %s is answered with a resync, a snapshot and the end", async (id) => {
  const { stage, connect } = await createEventStage();
  const jobId = await startJob(stage);
  await finish(stage, jobId);
  const events = await (await connect(`/jobs/${jobId}/events`, Number(id))).read();
  expect(events.map(({ data }) => data)).toMatchObject([{ type: "resync" }, { type: "snapshot", job: { status: "completed" } }]);
});

test("a finished job's late subscriber gets the snapshot and the end", async () => {
  const { stage, connect } = await createEventStage();
  const jobId = await startJob(stage);
  emit(stage, jobId, 1, 3);
  await finish(stage, jobId);
  const events = await (await connect(`/jobs/${jobId}/events`)).read();
  expect(events.map(({ data }) => data)).toMatchObject([
    { type: "snapshot", job: { status: "completed" }, curve: [{ step: 1 }, { step: 2 }, { step: 3 }] },
  ]);
});

test("100 open streams, half of them blocked, are closed with the service within two seconds", async () => {
  const { stage, streams, app, connect, sent } = await createEventStage();
  const jobId = await startJob(stage);
  const readers = await Promise.all(Array.from({ length: 100 }, () => connect(`/jobs/${jobId}/events`)));
  for (const reader of readers.slice(50)) reader.response.resume();
  for (let step = 1; step <= 3_000; step += 50) {
    emit(stage, jobId, step, 50);
    await turn();
  }
  expect(streams.count()).toBe(100);
  expect(sent.filter(({ response }) => response.writableNeedDrain).length).toBeGreaterThanOrEqual(50);
  const before = performance.now();
  await app.close();
  expect(performance.now() - before).toBeLessThan(2_000);
  expect(streams.count()).toBe(0);
});

test("a client that vanishes while its stream is blocked leaves nothing behind", async () => {
  const { stage, streams, connect, sent } = await createEventStage();
  const jobId = await startJob(stage);
  const { request } = await connect(`/jobs/${jobId}/events`);
  for (let step = 1; step <= 3_000; step += 50) {
    emit(stage, jobId, step, 50);
    await turn();
  }
  const [stream] = sent;
  expect(stream?.response.writableNeedDrain).toBe(true);
  request.destroy();
  await vi.waitFor(() => expect(streams.count()).toBe(0), { timeout: 5_000 });
  if (stream && !stream.payload.closed) await once(stream.payload, "close");
  expect(stream?.payload.destroyed).toBe(true);
});

test("a client that left before its stream began is not counted", async () => {
  const { streams, history } = await createEventStage();
  const response = new ServerResponse(new IncomingMessage(new Socket()));
  response.destroy();
  streams.open(history.ofAll, { after: null, response });
  expect(streams.count()).toBe(0);
});

test("a quiet stream gets heartbeats, and one that is blocked for a minute is cut off", async () => {
  const clock = manualClock();
  const { stage, streams, connect, sent } = await createEventStage({ clock });
  const jobId = await startJob(stage);
  const quiet = await connect(`/jobs/${jobId}/events`);
  let text = "";
  quiet.response.on("data", (chunk: string) => {
    text += chunk;
  });
  await vi.waitFor(() => expect(text).toContain("event: snapshot"));
  await vi.waitFor(() => {
    clock.advance(15_000);
    expect(text.match(/^: heartbeat$/gm)?.length).toBeGreaterThanOrEqual(3);
  });

  await connect(`/jobs/${jobId}/events`);
  for (let step = 1; step <= 3_000; step += 50) {
    emit(stage, jobId, step, 50);
    await turn();
  }
  expect(sent[1]?.response.writableNeedDrain).toBe(true);
  clock.advance(60_000);
  await vi.waitFor(() => expect(streams.count()).toBe(1));
  expect(sent[0]?.response.destroyed).toBe(false);
  quiet.request.destroy();
});

test("more streams than allowed are refused until one ends", async () => {
  const { stage, app, connect, streams } = await createEventStage({ maxStreams: 2 });
  const jobId = await startJob(stage);
  const first = await connect(`/jobs/${jobId}/events`);
  await connect("/jobs/events");
  const refused = await app.inject("/jobs/events");
  expect(refused.json()).toMatchObject({ status: 429, code: "TOO_MANY_STREAMS" });
  expect(Number(refused.headers["retry-after"])).toBeGreaterThan(0);
  first.request.destroy();
  await vi.waitFor(() => expect(streams.count()).toBe(1));
  await connect("/jobs/events");
});

test("the stream of all jobs begins with their snapshot and goes on when a job ends", async () => {
  const { stage, connect } = await createEventStage();
  const first = await startJob(stage);
  const reader = await connect("/jobs/events");
  const second = stage.submit().job_id;
  emit(stage, first, 1, 1);
  stage.actor(first).tell({ type: "log", job_id: first, text: "not told here\n" });
  await finish(stage, first);
  const events = await reader.read((seen) =>
    seen.some(({ data }) => data.type === "status" && data.job.job_id === second && data.job.status === "running"),
  );
  expect(events[0]?.data).toMatchObject({ type: "snapshot", jobs: [{ job_id: first }] });
  expect(events.map(({ data }) => data)).toMatchObject([
    {},
    { type: "status", job: { job_id: second, status: "queued", queue_position: 1 } },
    { type: "progress", job_id: first },
    { type: "status", job: { job_id: first, phase: "registering" } },
    { type: "status", job: { job_id: first, status: "completed" } },
    { type: "status", job: { job_id: second, status: "running" } },
  ]);
});

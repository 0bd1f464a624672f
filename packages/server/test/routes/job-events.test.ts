import { join } from "node:path";
import { type JobDetails, JobEvent, JobsEvent } from "@imprint/contracts";
import { matches } from "@imprint/contracts/fields";
import { expect, test } from "vitest";
import { eventsIn } from "../support/events.js";
import { makeFolder, startLora, startService } from "../support/service.js";
import { putSession } from "../support/session.js";

test("a real job is told from the queue to its adapter, as the contract says", async () => {
  const service = await startService({ behaviour: { steps: 5 } });
  putSession(service.dataDir, "s1");
  const all = await fetch(`${service.url}/jobs/events`);
  const jobId = await startLora(service, { session_id: "s1", adapter_id: "seen" });
  const response = await fetch(`${service.url}/jobs/${jobId}/events`);
  expect(response.headers.get("content-type")).toBe("text/event-stream; charset=utf-8");
  expect(response.headers.get("x-content-type-options")).toBe("nosniff");
  const events = eventsIn(await response.text()).map(({ data }) => data);
  expect(events.filter((event) => !matches(JobEvent, event))).toEqual([]);
  expect(events.flatMap((event) => (event.type === "progress" ? [event.progress.step] : []))).toEqual([1, 2, 3, 4, 5]);
  expect(events.at(-1)).toMatchObject({ type: "status", job: { status: "completed", adapter_id: "seen" } });
  const details = (await service.get(`/jobs/${jobId}/details`)).json<JobDetails>();
  expect(events.at(-1)).toEqual({ type: "status", job: details });

  const reader = all.body?.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  while (!text.includes('"completed"')) text += (await reader?.read())?.value;
  await reader?.cancel();
  const told = eventsIn(`${text}\n\n`).map(({ data }) => data);
  expect(told.filter((event) => !matches(JobsEvent, event))).toEqual([]);
});

test("unknown jobs, ids that are none and other methods are refused in words", async () => {
  const service = await startService();
  expect((await service.get("/jobs/nobody/events")).json()).toMatchObject({ status: 404, code: "JOB_NOT_FOUND" });
  const refused = await service.call({ method: "GET", url: "/jobs/events", headers: { "last-event-id": "12abc" } });
  expect(refused.json()).toMatchObject({ status: 422, errors: [{ path: "/Last-Event-ID" }] });
  expect((await service.call({ method: "HEAD", url: "/jobs/any/events" })).statusCode).toBe(405);
  const foreign = await service.call({ method: "GET", url: "/jobs/events", headers: { origin: "http://evil.example" } });
  expect(foreign.json()).toMatchObject({ code: "ORIGIN_NOT_ALLOWED" });
});

test("streams stay open while running jobs get their time, tell how they ended, and end with the service", async () => {
  const service = await startService({ behaviour: { wait_for: join(makeFolder(), "never") } });
  putSession(service.dataDir, "s1");
  const jobId = await startLora(service, { session_id: "s1" });
  await service.reached(jobId, ({ progress }) => progress !== null);
  const one = fetch(`${service.url}/jobs/${jobId}/events`).then((response) => response.text());
  const all = await fetch(`${service.url}/jobs/events`);
  const text = all.text();
  await service.close(1);
  const last = eventsIn(await one).at(-1);
  expect(last?.data).toMatchObject({ type: "status", job: { status: "failed", error: { code: "SHUTTING_DOWN" } } });
  expect(eventsIn(await text).at(-1)?.data).toEqual(last?.data);
});

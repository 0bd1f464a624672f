import { createHmac } from "node:crypto";
import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import type { JobDetails } from "@imprint/contracts";
import { expect, onTestFinished, test, vi } from "vitest";
import { createWebhooks } from "../../src/webhooks/webhooks.js";
import { manualClock } from "../common/manual-clock.js";
import { quietLog } from "../common/quiet-log.js";
import { createStage } from "../jobs/stage.js";
import { secretFile, startLora, startService } from "../support/service.js";
import { putSession } from "../support/session.js";

interface Received {
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

const KEY = Buffer.from("a key of thirty-two bytes, signs");

/** A receiver that answers with the given statuses in order, the last one for ever; 0 is no answer at all. */
const receiver = async (statuses: readonly number[]) => {
  const received: Received[] = [];
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const chunk of request) body += chunk;
    const status = statuses[Math.min(received.length, statuses.length - 1)] ?? 200;
    received.push({ headers: request.headers, body });
    if (status !== 0) response.writeHead(status, { location: "http://127.0.0.1:1/" }).end("thanks");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { received, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook` };
};

const build = async (statuses: readonly number[]) => {
  const { received, url } = await receiver(statuses);
  const stage = createStage();
  const clock = manualClock();
  const log = quietLog();
  const webhooks = createWebhooks({ webhook: { url, key: KEY }, jobs: stage.jobs, clock, log });
  onTestFinished(() => webhooks.close());
  const cancelled = (): string => stage.jobs.cancel(stage.submit().job_id).job_id;
  return { received, stage, clock, log, webhooks, cancelled };
};

test("the end of a job is posted once, signed so that the receiver can check it", async () => {
  const { received, webhooks, cancelled, clock } = await build([204]);
  const jobId = cancelled();
  await vi.waitFor(() => expect(webhooks.pending()).toBe(0));
  const [message] = received;
  expect(received).toHaveLength(1);
  expect(JSON.parse(message?.body ?? "")).toMatchObject({ type: "job.cancelled", data: { job_id: jobId, status: "cancelled" } });
  const { "webhook-id": id, "webhook-timestamp": timestamp, "webhook-signature": signature } = message?.headers ?? {};
  expect([id, timestamp]).toEqual([`msg_${jobId}`, String(clock.now() / 1000)]);
  const expected = createHmac("sha256", KEY).update(`${id}.${timestamp}.${message?.body}`).digest("base64");
  expect(signature).toBe(`v1,${expected}`);
});

test("a service that is told where posts the end of a real job there", async () => {
  const { received, url } = await receiver([200]);
  const webhook_secret_file = secretFile(`whsec_${KEY.toString("base64")}`);
  const service = await startService({ flags: { webhook_url: url, webhook_secret_file } });
  putSession(service.dataDir, "s1");
  const jobId = await startLora(service, { session_id: "s1", adapter_id: "told" });
  await vi.waitFor(() => expect(received).toHaveLength(1), { timeout: 10_000 });
  const details = (await service.get(`/jobs/${jobId}/details`)).json<JobDetails>();
  expect(JSON.parse(received[0]?.body ?? "")).toEqual({ type: "job.completed", timestamp: details.finished_at, data: details });
});

test("a message that is not taken is sent again with the same id, less and less often, and then given up", async () => {
  const { received, webhooks, cancelled, clock, log } = await build([500]);
  cancelled();
  const pauses = [1_000, 10_000, 60_000, 300_000, 1_800_000];
  for (const [index, pause] of pauses.entries()) {
    await vi.waitFor(() => expect(log.lines.filter((line) => line.startsWith("warn"))).toHaveLength(index + 1));
    clock.advance(pause - 1);
    expect(received).toHaveLength(index + 1);
    clock.advance(1);
    await vi.waitFor(() => expect(received).toHaveLength(index + 2));
  }
  await vi.waitFor(() => expect(webhooks.pending()).toBe(0));
  expect(log.lines.at(-1)).toBe("error: a webhook was given up");
  expect(new Set(received.map(({ headers }) => headers["webhook-id"])).size).toBe(1);
  expect(new Set(received.map(({ headers }) => headers["webhook-timestamp"])).size).toBe(6);
});

test.each([302, 0])("an answer %i counts as not taken: redirects are not followed, silence has a limit", async (status) => {
  const { received, webhooks, cancelled, clock, log } = await build([status, 200]);
  cancelled();
  await vi.waitFor(() => expect(received).toHaveLength(1));
  if (status === 0) clock.advance(10_000);
  await vi.waitFor(() => expect(log.lines).toEqual(["warn: a webhook was not taken and is sent again later"]));
  clock.advance(1_000);
  await vi.waitFor(() => expect(webhooks.pending()).toBe(0));
  expect(received).toHaveLength(2);
});

test("a receiver that never answers delays neither jobs nor the end, and at most so many messages wait for it", async () => {
  const { stage, webhooks, cancelled, log } = await build([0]);
  for (let count = 0; count < 201; count += 1) cancelled();
  expect(stage.jobs.counts().cancelled).toBe(100);
  expect(webhooks.pending()).toBe(200);
  expect(log.lines).toEqual(["error: a webhook was left out: too many wait"]);
  webhooks.close();
  expect(webhooks.pending()).toBe(0);
  cancelled();
  expect(webhooks.pending()).toBe(0);
});

import { createHmac } from "node:crypto";
import { withSignals } from "@imprint/contracts";
import type { Clock } from "../common/clock.js";
import type { Log } from "../common/error.js";
import type { Webhook } from "../config/webhook.js";
import { type Job, toDetails } from "../jobs/job.js";
import type { Jobs } from "../jobs/jobs.js";
import { isTerminal } from "../jobs/status.js";

/** Before the second attempt, the third, ...: in all a little over half an hour. */
const RETRY_AFTER_MS = [1_000, 10_000, 60_000, 300_000, 1_800_000];
const ATTEMPT_MS = 10_000;
/** Messages that may be under way; a receiver that is away for long costs the rest. */
const MAX_PENDING = 200;

export interface Webhooks {
  /** Messages that are being sent, or wait for another attempt. */
  pending(): number;
  /** Gives up what was not delivered. */
  close(): void;
}

export interface WebhooksOptions {
  readonly webhook: Webhook;
  readonly jobs: Jobs;
  readonly clock: Clock;
  readonly log: Log;
}

interface Message {
  readonly id: string;
  readonly job_id: string;
  readonly body: string;
}

interface SignOptions {
  readonly id: string;
  /** Seconds since the epoch. */
  readonly timestamp: number;
  readonly body: string;
  readonly key: Uint8Array;
}

/** The headers that let the receiver check a message (Standard Webhooks 1.0: HMAC-SHA256 of id, timestamp and body). */
const signedHeaders = ({ id, timestamp, body, key }: SignOptions): Readonly<Record<string, string>> => ({
  "content-type": "application/json",
  "user-agent": "imprint",
  "webhook-id": id,
  "webhook-timestamp": String(timestamp),
  "webhook-signature": `v1,${createHmac("sha256", key).update(`${id}.${timestamp}.${body}`).digest("base64")}`,
});

const messageOf = (job: Job): Message => ({
  id: `msg_${job.job_id}`,
  job_id: job.job_id,
  body: JSON.stringify({ type: `job.${job.status}`, timestamp: job.finished_at, data: toDetails(job, null) }),
});

/** Posts every job that ends to the configured address. Jobs and the end of the service wait for nothing here. */
export const createWebhooks = ({ webhook: { url, key }, jobs, clock, log }: WebhooksOptions): Webhooks => {
  const closing = new AbortController();
  /** With what calls the next attempt off, while one is waited for. */
  const pending = new Map<Message, () => void>();

  /** Null when it was taken, else what came instead. */
  const attempt = async ({ id, body }: Message): Promise<string | null> => {
    const limit = new AbortController();
    const disarm = clock.after(ATTEMPT_MS, () => limit.abort());
    try {
      const timestamp = Math.floor(clock.now() / 1000);
      const headers = signedHeaders({ id, timestamp, body, key });
      // A redirect could lead where the settings allow nothing to be sent.
      const init = { method: "POST", headers, body, redirect: "manual" } as const;
      const response = await withSignals([closing.signal, limit.signal], (signal) => fetch(url, { ...init, signal }));
      await response.body?.cancel();
      return response.ok ? null : `status ${response.status}`;
    } catch {
      return limit.signal.aborted ? "no answer in time" : "no connection";
    } finally {
      disarm();
    }
  };

  const deliver = async (message: Message, tried = 0): Promise<void> => {
    const reason = await attempt(message);
    if (reason === null || closing.signal.aborted) return void pending.delete(message);
    const { job_id } = message;
    const pause = RETRY_AFTER_MS[tried];
    if (pause === undefined) {
      pending.delete(message);
      log.error({ job_id, reason, attempts: tried + 1 }, "a webhook was given up");
      return;
    }
    log.warn({ job_id, reason, attempts: tried + 1 }, "a webhook was not taken and is sent again later");
    const callOff = clock.after(pause, () => void deliver(message, tried + 1));
    pending.set(message, callOff);
  };

  const leave = jobs.subscribe((job) => {
    if (!isTerminal(job.status)) return;
    if (pending.size >= MAX_PENDING) return log.error({ job_id: job.job_id }, "a webhook was left out: too many wait");
    const message = messageOf(job);
    pending.set(message, () => {});
    void deliver(message);
  });

  return {
    pending: () => pending.size,
    close() {
      leave();
      closing.abort();
      for (const callOff of pending.values()) callOff();
      if (pending.size > 0) log.warn({ count: pending.size }, "webhooks were not delivered before the service stopped");
      pending.clear();
    },
  };
};

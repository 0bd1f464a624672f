import { createHmac } from "node:crypto";

interface SignOptions {
  readonly id: string;
  /** Seconds since the epoch. */
  readonly timestamp: number;
  readonly body: string;
  readonly key: Uint8Array;
}

/** The headers that let the receiver check a message (Standard Webhooks 1.0: HMAC-SHA256 of id, timestamp and body). */
export const signedHeaders = ({ id, timestamp, body, key }: SignOptions): Readonly<Record<string, string>> => ({
  "content-type": "application/json",
  "user-agent": "imprint",
  "webhook-id": id,
  "webhook-timestamp": String(timestamp),
  "webhook-signature": `v1,${createHmac("sha256", key).update(`${id}.${timestamp}.${body}`).digest("base64")}`,
});

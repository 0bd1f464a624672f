import type { FastifyRequest } from "fastify";
import { ProblemError, quote } from "../common/error.js";

export const EVENT_STREAM_HEADERS = {
  "content-type": "text/event-stream; charset=utf-8",
  "cache-control": "no-store",
  // Proxies that buffer answers would hold every event back.
  "x-accel-buffering": "no",
};

/** An absent and an empty Last-Event-ID mean the same to a browser. @throws ProblemError VALIDATION_FAILED */
export const lastEventId = ({ headers }: FastifyRequest): number | null => {
  const text = [headers["last-event-id"] ?? ""].flat().join();
  if (text === "") return null;
  if (/^\d{1,16}$/.test(text) && Number.isSafeInteger(Number(text))) return Number(text);
  throw new ProblemError("VALIDATION_FAILED", `The header Last-Event-ID is ${quote(text)}: send an id of the stream, or none.`, {
    errors: [{ path: "/Last-Event-ID", message: "must be an id that the stream sent" }],
  });
};

import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { FastifyReply, FastifyRequest } from "fastify";
import { describeError } from "../http/errors.js";
import { ClientGoneError } from "../http/problem.js";
import type { AnswerEvent } from "./answer.js";

/** A server-sent event; named, where its face names events. */
export const frame = (data: unknown, event?: string): string =>
  `${event === undefined ? "" : `event: ${event}\n`}data: ${typeof data === "string" ? data : JSON.stringify(data)}\n\n`;

/** How a face tells an answer: frames for its events, and for a failure in the middle the object that is its error answer. */
export interface Teller {
  readonly tell: (event: AnswerEvent) => Iterable<string>;
  readonly fail: (error: object) => Iterable<string>;
}

async function* framesOf(
  events: AsyncGenerator<AnswerEvent, void>,
  first: IteratorResult<AnswerEvent, void>,
  { teller: { tell, fail }, request }: { readonly teller: Teller; readonly request: FastifyRequest },
): AsyncGenerator<string> {
  try {
    for (let step = first; !step.done; step = await events.next()) yield* tell(step.value);
  } catch (error) {
    if (!(error instanceof ClientGoneError)) yield* fail(describeError(error, request).body);
  }
}

/**
 * Streams an answer once its first event is there: what fails before is an error answer with a status. Takes the reply over from
 * Fastify, whose time limit is for the wait until then.
 */
export const sendStream = async (
  events: AsyncGenerator<AnswerEvent, void>,
  teller: Teller,
  { request, reply }: { readonly request: FastifyRequest; readonly reply: FastifyReply },
): Promise<void> => {
  const first = await events.next();
  reply.hijack();
  reply.raw.writeHead(200, {
    ...(reply.getHeaders() as Record<string, string>),
    "content-type": "text/event-stream; charset=utf-8",
    "cache-control": "no-store",
  });
  try {
    await pipeline(Readable.from(framesOf(events, first, { teller, request })), reply.raw);
  } catch {
    request.log.debug({ method: request.method, url: request.url }, new ClientGoneError().message);
  }
};

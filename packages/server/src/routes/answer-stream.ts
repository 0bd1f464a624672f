import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { AnswerEvent } from "../chat/answer.js";
import type { LeftOut } from "../chat/conversation.js";
import type { ChatService } from "../chat/service.js";
import { answerBegun } from "../http/deadline.js";
import { ClientGoneError, describeError } from "../http/errors.js";
import { EVENT_STREAM_HEADERS } from "../http/event-stream.js";

/** What a route that chats works with. */
export interface ChatDeps {
  readonly chat: ChatService;
  readonly deps: { readonly now: () => Date };
}

export const epochSeconds = (at: Date): number => Math.floor(at.getTime() / 1000);

/** Of a route that chats: the time until the answer, or the first word of its stream, and a conversation with all that agents send. */
export const CHAT_ROUTE = { config: { timeoutMs: 600_000 }, bodyLimit: 64 * 1024 * 1024 };

const NAMED = 20;

/** Names what an answer's request held and nothing here reads. */
export const nameLeftOut = (reply: FastifyReply, leftOut: LeftOut): void => {
  if (leftOut.size === 0) return;
  const names = [...leftOut].slice(0, NAMED).map((name) => name.replaceAll(/[^\w .:-]/g, "?").slice(0, 80));
  reply.header("x-imprint-left-out", names.join(", "));
};

/** A server-sent event; named, where its API names events. */
export const frame = (data: unknown, event?: string): string =>
  `${event === undefined ? "" : `event: ${event}\n`}data: ${typeof data === "string" ? data : JSON.stringify(data)}\n\n`;

/** How an API writes a stream: frames of an answer's events, and of a failure in the middle, whose `body` would be its error answer. */
export interface StreamEncoder {
  encode(event: AnswerEvent): string;
  fail(body: object): string;
}

/**
 * Streams an answer once its first event is there: what fails before is an error answer with a status. The reply is taken over from
 * Fastify, whose time limit is off once there is more to tell than that nothing is there yet.
 */
export const sendStream = async (
  events: AsyncGenerator<AnswerEvent, void>,
  encoder: StreamEncoder,
  { request, reply }: { readonly request: FastifyRequest; readonly reply: FastifyReply },
): Promise<void> => {
  async function* frames(first: IteratorResult<AnswerEvent, void>): AsyncGenerator<string> {
    try {
      for (let step = first; !step.done; step = await events.next()) {
        if (step.value.type !== "idle") answerBegun(request);
        const text = encoder.encode(step.value);
        if (text !== "") yield text;
      }
    } catch (error) {
      if (!(error instanceof ClientGoneError)) yield encoder.fail(describeError(error, request).body);
    }
  }
  const first = await events.next();
  reply.hijack();
  reply.raw.writeHead(200, { ...(reply.getHeaders() as Record<string, string>), ...EVENT_STREAM_HEADERS });
  // Not waited for: the handler has done its part.
  pipeline(Readable.from(frames(first)), reply.raw).catch(() => {
    request.log.debug({ method: request.method, url: request.url }, new ClientGoneError().message);
  });
};

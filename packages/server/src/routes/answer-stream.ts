import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { Static, TSchema } from "typebox";
import { type Answer, type AnswerEvent, wholeAnswer } from "../chat/answer.js";
import type { Conversation, LeftOut } from "../chat/conversation.js";
import type { ChatService } from "../chat/service.js";
import type { App } from "../http/app.js";
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

/** A call that chats, as one API has it. */
interface ChatCall<Body extends TSchema> {
  readonly url: string;
  readonly summary: string;
  readonly body: Body;
  /** What it answers: whole, and the data of a stream's events. */
  readonly answer: TSchema;
  readonly event: TSchema;
  /** What a request asks, and how its answer is told. Throws ProblemError. */
  read(
    body: Static<Body>,
    leftOut: LeftOut,
  ): { readonly conversation: Conversation; whole(answer: Answer): object; readonly encoder: StreamEncoder };
}

export const addChatCall = <Body extends TSchema>(app: App, { chat }: ChatDeps, call: ChatCall<Body>): void => {
  const description = "The answer; with stream, its events as server-sent events";
  const content = { "application/json": { schema: call.answer }, "text/event-stream": { schema: call.event } };
  const { url, summary, body } = call;
  app.post(
    url,
    { ...CHAT_ROUTE, schema: { tags: ["chat"], summary, body, response: { 200: { description, content } } } },
    async (request, reply) => {
      const asked = request.body as Static<Body> & { readonly model: string; readonly stream?: boolean | null };
      const leftOut: LeftOut = new Set();
      const { conversation, whole, encoder } = call.read(asked, leftOut);
      nameLeftOut(reply, leftOut);
      const { model, stream } = asked;
      const events = await chat.ask({ model, conversation, stream: stream ?? false }, request);
      return stream ? sendStream(events, encoder, { request, reply }) : whole(await wholeAnswer(events));
    },
  );
};

import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { FastifyReply, FastifyRequest } from "fastify";
import { describeError } from "../http/errors.js";
import { ClientGoneError } from "../http/problem.js";

const dataLine = (data: unknown): string => `data: ${JSON.stringify(data)}\n\n`;

/** OpenAI's stream: one object a line, then `[DONE]`; a failure in the middle is an error object instead. */
async function* lines(objects: AsyncIterable<unknown>, request: FastifyRequest): AsyncGenerator<string> {
  try {
    for await (const object of objects) yield dataLine(object);
    yield "data: [DONE]\n\n";
  } catch (error) {
    if (!(error instanceof ClientGoneError)) yield dataLine(describeError(error, request).body);
  }
}

/** Takes the answer over from Fastify, whose time limit is for the wait until an answer begins. */
export const sendEventStream = async (
  objects: AsyncIterable<unknown>,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<void> => {
  reply.hijack();
  reply.raw.writeHead(200, {
    ...(reply.getHeaders() as Record<string, string>),
    "content-type": "text/event-stream; charset=utf-8",
    "cache-control": "no-store",
  });
  try {
    await pipeline(Readable.from(lines(objects, request)), reply.raw);
  } catch {
    request.log.debug({ method: request.method, url: request.url }, new ClientGoneError().message);
  }
};

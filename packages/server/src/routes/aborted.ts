import type { FastifyReply } from "fastify";
import { ClientGoneError } from "../problem.js";

/** A signal that aborts when the client goes away before its answer is sent. */
export const abortedWith = (reply: FastifyReply): AbortSignal => {
  const gone = new AbortController();
  reply.raw.once("close", () => {
    if (!reply.raw.writableFinished) gone.abort(new ClientGoneError());
  });
  return gone.signal;
};

import type { FastifyReply } from "fastify";

/** A signal that aborts when the client goes away before its answer is sent. */
export const abortedWith = (reply: FastifyReply): AbortSignal => {
  const gone = new AbortController();
  reply.raw.once("close", () => {
    if (!reply.raw.writableFinished) gone.abort(new Error("the client closed the connection"));
  });
  return gone.signal;
};

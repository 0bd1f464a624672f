import type { FastifyReply } from "fastify";
import { ClientGoneError } from "./problem.js";

/** A signal that aborts when nobody waits for the handler any more: its client went away, or was told that it took too long. */
export const abortedWith = (reply: FastifyReply): AbortSignal => {
  const gone = new AbortController();
  reply.raw.once("close", () => gone.abort(new ClientGoneError()));
  return gone.signal;
};

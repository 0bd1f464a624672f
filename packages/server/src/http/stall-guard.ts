import type { FastifyInstance } from "fastify";
import type { Clock } from "../common/clock.js";
import { hasBody } from "./deadline.js";
import { refuseOnSocket } from "./errors.js";

/** A body of which fewer bytes come in this time has stalled. */
const STALL_MS = 60_000;
const LEAST_BYTES = 1024;

/** Ends requests whose body stops coming, however long the whole of it takes: Node's requestTimeout would end those that do not stop. */
export const addStallGuard = (app: FastifyInstance, { clock }: { readonly clock: Pick<Clock, "after"> }): void => {
  app.addHook("onRequest", async (request, reply) => {
    if (!hasBody(request)) return;
    const { raw, url } = request;
    const { socket } = raw;
    let disarm = (): void => {};
    const watch = (): void => {
      const seen = socket.bytesRead;
      disarm = clock.after(STALL_MS, () => {
        if (socket.bytesRead - seen >= LEAST_BYTES) watch();
        else if (reply.raw.headersSent) raw.destroy();
        else refuseOnSocket(socket, "REQUEST_INCOMPLETE", url);
      });
    };
    watch();
    for (const over of ["end", "close"]) raw.once(over, () => disarm());
  });
};

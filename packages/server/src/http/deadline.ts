import type { FastifyInstance, FastifyRequest } from "fastify";
import type { Clock } from "../common/clock.js";
import { ProblemError } from "../common/error.js";
import { ClientGoneError } from "./errors.js";

declare module "fastify" {
  interface FastifyContextConfig {
    /** Milliseconds until the answer has to begin, counted from when the body has arrived. Default: 30,000. */
    timeoutMs?: number;
  }
  interface FastifyRequest {
    cancellation: Cancellation | null;
    /** Aborts when nobody waits for the handler any more, with the reason: its client left, or was told that it took too long. */
    readonly cancelled: AbortSignal;
  }
}

const DEFAULT_TIMEOUT_MS = 30_000;

const tooLate = (): ProblemError =>
  new ProblemError("DEADLINE_EXCEEDED", "The answer took too long: the trainer or the machine is busy. Try again later.", {
    headers: { "retry-after": "5" },
  });

/** Whether a body follows the headers (RFC 9112, section 6.3). */
export const hasBody = ({ headers }: FastifyRequest): boolean =>
  headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0;

/** Calls once with the time at which a request is here as a whole; how long its client sends is not the handler's time. */
const onceReceived = (request: FastifyRequest, begin: () => void): void => {
  if (!hasBody(request) || request.raw.readableEnded) begin();
  else request.raw.once("end", begin);
};

/** Why nobody waits for a request any more, once that is so. Most are never asked for their signal, which takes long to make. */
class Cancellation {
  #reason: Error | null = null;
  #controller: AbortController | null = null;
  /** Hears of the reason, once. */
  onCancel: (reason: Error) => void = () => {};
  #isAnswered = false;
  #stop: () => void = () => {};

  /** Starts the deadline, unless the answer was there first: a refused body ends after its refusal. */
  arm(start: () => () => void): void {
    if (!this.#isAnswered) this.#stop = start();
  }

  /** Calls the deadline off for good. */
  disarm(): void {
    this.#isAnswered = true;
    this.#stop();
  }

  get signal(): AbortSignal {
    this.#controller ??= new AbortController();
    if (this.#reason) this.#controller.abort(this.#reason);
    return this.#controller.signal;
  }

  cancel(reason: Error): void {
    if (this.#reason) return;
    this.#reason = reason;
    this.#controller?.abort(reason);
    this.onCancel(reason);
  }
}

/** The handler's answer, or a rejection once it is late. Whose client left may tidy up first: nobody waits for its answer. */
const unlessLate = (answer: Promise<unknown>, cancellation: Cancellation): Promise<unknown> =>
  new Promise((resolve, reject) => {
    answer.then(resolve, reject);
    cancellation.onCancel = (reason) => {
      if (!(reason instanceof ClientGoneError)) reject(reason);
    };
  });

const cancellationOf = (request: FastifyRequest): Cancellation => {
  request.cancellation ??= new Cancellation();
  return request.cancellation;
};

/** Ends the time limit of a reply that was hijacked; any other's ends when it is sent. */
export const answerBegun = (request: FastifyRequest): void => cancellationOf(request).disarm();

/**
 * Gives every handler a time limit and a signal. Both hang on the reply: a request's own `close` comes when its body was read.
 * A handler that is late goes on, without a client and without a transaction; its answer is dropped.
 */
export const addDeadlines = (app: FastifyInstance, { clock }: { readonly clock: Pick<Clock, "after"> }): void => {
  app.decorateRequest("cancellation", null);
  app.decorateRequest("cancelled", {
    getter(this: FastifyRequest): AbortSignal {
      return cancellationOf(this).signal;
    },
  });
  app.addHook("onRequest", async (request, reply) => {
    const cancellation = cancellationOf(request);
    const { timeoutMs = DEFAULT_TIMEOUT_MS } = request.routeOptions.config;
    onceReceived(request, () => {
      const expire = (): void => {
        if (!reply.raw.writableEnded) cancellation.cancel(tooLate());
      };
      cancellation.arm(() => clock.after(timeoutMs, expire));
    });
    reply.raw.once("close", () => {
      cancellation.disarm();
      if (!reply.raw.writableFinished) cancellation.cancel(new ClientGoneError());
    });
  });
  app.addHook("onSend", async (request) => cancellationOf(request).disarm());
  app.addHook("onRoute", (route) => {
    const { handler } = route;
    route.handler = function limited(request, reply) {
      const answer: unknown = handler.call(this, request, reply);
      return answer instanceof Promise ? unlessLate(answer, cancellationOf(request)) : answer;
    };
  });
};

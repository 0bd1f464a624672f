import type { FastifyRequest } from "fastify";
import type { Clock } from "../common/clock.js";
import { tooLate } from "../http/deadline.js";
import type { Workshop } from "../kinds/workshop.js";
import type { Interactive } from "../runners/runner.js";
import type { Served } from "../runners/served.js";
import { type AnswerEvent, answerTo } from "./answer.js";
import type { Conversation } from "./conversation.js";
import { locateModel } from "./locate.js";
import type { Recorder } from "./recording/recorder.js";

export interface DeskServices {
  readonly workshop: Workshop;
  readonly interactive: Interactive;
  readonly upstream: Served | null;
  readonly recorder: Recorder;
  readonly closing: AbortSignal;
}

/** Until the answer, or the beginning of its stream. */
export const CHAT_TIMEOUT_MS = 600_000;
/** Of a conversation with all that agents send along. */
export const CHAT_BODY_LIMIT = 64 * 1024 * 1024;

export interface Asked {
  readonly model: string;
  readonly conversation: Conversation;
  readonly stream: boolean;
}

/** Where every face asks. */
export interface Desk {
  /** Rejects where the model is not known; what else may go wrong is thrown by the first event, or a later one. */
  ask(asked: Asked, request: FastifyRequest): Promise<AsyncGenerator<AnswerEvent, void>>;
  /** Tokens of the prompt, however long. */
  count(asked: Omit<Asked, "stream">, request: FastifyRequest): Promise<number>;
  /** Seconds since the epoch. */
  now(): number;
}

export const createDesk = (
  { workshop, interactive, upstream, recorder, closing }: DeskServices,
  { clock }: { readonly clock: Clock },
): Desk => {
  /** The events, and an end to the wait for the first token of a stream: its head is sent, and Fastify's limit is for that. */
  async function* unlessLate(
    events: AsyncGenerator<AnswerEvent, void>,
    late: AbortController,
  ): AsyncGenerator<AnswerEvent, void> {
    const disarm = clock.after(CHAT_TIMEOUT_MS, () => late.abort(tooLate()));
    try {
      for await (const event of events) {
        if (event.type !== "idle") disarm();
        yield event;
      }
    } finally {
      disarm();
    }
  }

  return {
    ask: async ({ model, conversation, stream }, request) => {
      const { strict_tools, ...asked } = conversation;
      const spec = { ...(await locateModel(model, { workshop, upstream })), ...asked, stream };
      const late = new AbortController();
      const signal = AbortSignal.any([request.cancelled, closing, late.signal]);
      const events = answerTo(spec, (onEvent) => interactive.call({ type: "chat", spec, strict_tools }, signal, onEvent), {
        clock,
      });
      return recorder.follow(unlessLate(events, late), { model, conversation, request });
    },
    count: async ({ model, conversation }, request) => {
      const { strict_tools: _calls, ...asked } = conversation;
      const spec = { ...(await locateModel(model, { workshop, upstream })), ...asked, max_tokens: 0, stream: false };
      const signal = AbortSignal.any([request.cancelled, closing]);
      return (await interactive.call({ type: "chat", spec }, signal)).prompt_tokens;
    },
    now: () => Math.floor(workshop.now().getTime() / 1000),
  };
};

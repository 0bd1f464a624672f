import { type ChatSpec, withSignals } from "@imprint/contracts";
import type { Clock } from "../common/clock.js";
import { ProblemError, quote } from "../common/error.js";
import { type BaseModels, locateBaseModel } from "../models/base-model.js";
import { type Registry, requireWhole } from "../registry/health.js";
import { findNamed } from "../registry/require-adapter.js";
import type { ChatEvent } from "../runners/runner.js";
import { type Served, servedElsewhere } from "../runners/served.js";
import { type AnswerEvent, answerTo } from "./answer.js";
import type { Conversation } from "./conversation.js";
import type { ChatEngine } from "./engine.js";
import type { Recorder } from "./recording/recorder.js";
import type { Headers } from "./recording/requested.js";

interface Deps {
  readonly engine: ChatEngine;
  readonly upstream: Served | null;
  readonly recorder: Recorder;
  readonly registry: Registry;
  readonly models: BaseModels;
  /** Aborts, with the reason to give, when the service begins to stop. */
  readonly closing: AbortSignal;
  readonly clock: Pick<Clock, "after">;
}

interface AskedChat {
  readonly model: string;
  readonly conversation: Conversation;
  readonly stream: boolean;
}

/** The request that asks: `cancelled` aborts when nobody waits for its answer any more. */
interface Asking {
  readonly headers: Headers;
  readonly cancelled: AbortSignal;
}

/** For what the question is no matter. */
const GREETING: Omit<ChatSpec, "base_model" | "adapter_path"> = {
  messages: [{ role: "user", content: "Hello.", tool_calls: [], tool_call_id: null }],
  tools: [],
  tool_choice: "auto",
  parallel_tool_calls: true,
  json_schema: null,
  max_tokens: 16,
  temperature: 0,
  top_p: 1,
  top_k: 0,
  min_p: 0,
  enable_thinking: null,
  stop: [],
  seed: 0,
  stream: false,
};

/** What every API asks. */
export interface ChatService {
  /** Rejects where the model is not known; what else may go wrong is thrown by the first event, or a later one. */
  ask(asked: AskedChat, asking: Asking): Promise<AsyncGenerator<AnswerEvent, void>>;
  /** Rejects as an engine's `handOver` does, and where the adapter is not known. */
  handOver(adapterId: string, cancelled: AbortSignal): Promise<void>;
  /** Tokens of the prompt, however long. */
  count(asked: Omit<AskedChat, "stream">, asking: Asking): Promise<number>;
}

export const unknownModel = (model: string, upstream: Served | null): ProblemError =>
  new ProblemError(
    "NOT_FOUND",
    `${quote(model)} is neither an adapter nor a prepared base model${upstream === null ? "" : ", nor a model of the upstream"}; GET /v1/models lists them.`,
  );

export const createChatService = ({ engine, upstream, recorder, registry, models, closing, clock }: Deps): ChatService => {
  /**
   * The files of an adapter or a base model by its name. The registry is asked in a transaction of its own: the answer may take
   * minutes. A name of this machine is never another server's.
   * @throws ProblemError NOT_FOUND, what a deleted or broken adapter is refused with, and UPSTREAM_UNREACHABLE for a name that may be
   * the upstream's
   */
  const locate = async (model: string): Promise<Pick<ChatSpec, "base_model" | "adapter_path">> => {
    const adapter = await findNamed(registry.database, model);
    if (adapter)
      return {
        base_model: locateBaseModel(adapter.base_model, models).location,
        adapter_path: await requireWhole(registry, adapter),
      };
    try {
      return { base_model: locateBaseModel(model, models).location, adapter_path: null };
    } catch {
      const served = upstream === null ? [] : await upstream.models();
      if (served.some(({ id }) => id === model)) return { base_model: servedElsewhere(model), adapter_path: null };
      throw unknownModel(model, upstream);
    }
  };

  return {
    ask: async ({ model, conversation, stream }, { headers, cancelled }) => {
      const { strict_tools, ...asked } = conversation;
      const spec = { ...(await locate(model)), ...asked, stream };
      const work = (onEvent: (event: ChatEvent) => void) =>
        withSignals([cancelled, closing], (signal) => engine.chat({ spec, strict_tools }, signal, onEvent));
      return answerTo(spec, work, { clock, onEvent: recorder.record({ model, conversation, headers }) });
    },
    handOver: async (adapterId, cancelled) => {
      const spec = { ...GREETING, ...(await locate(adapterId)) };
      await withSignals([cancelled, closing], async (signal) => engine.handOver?.(spec, signal));
    },
    count: async ({ model, conversation }, { cancelled }) => {
      const { strict_tools: _calls, ...asked } = conversation;
      const spec = { ...(await locate(model)), ...asked, max_tokens: 0, stream: false };
      const counted = await withSignals([cancelled, closing], (signal) => engine.chat({ spec, strict_tools: [] }, signal));
      return counted.prompt_tokens;
    },
  };
};

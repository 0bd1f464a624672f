import type { ChatResult, ChatSpec, RenderedPrompt } from "@imprint/contracts";
import { ImprintError } from "../common/error.js";
import type { ChatEvent, Interactive } from "../runners/runner.js";

/** What an engine is asked. */
export interface Chat {
  readonly spec: ChatSpec;
  /** Names of the tools whose calls must keep to their schema: an engine has grammars for that, or refuses. */
  readonly strict_tools: readonly string[];
}

/** Who answers chats: the trainer, llama.cpp or another server. Both reject with ImprintError, or with the signal's reason. */
export interface ChatEngine {
  /** The tokens of a prompt, as trainings render it. */
  render(spec: ChatSpec, signal?: AbortSignal): Promise<RenderedPrompt>;
  /** `onEvent` is told of the prompt and, with `stream`, of the text as it is generated: all of it before the promise resolves. */
  chat(chat: Chat, signal?: AbortSignal, onEvent?: (event: ChatEvent) => void): Promise<ChatResult>;
}

/** The trainer's worker: it has no grammars that hold a call to its tool's schema. (A schema for the answer it refuses by itself.) */
export const createTrainerEngine = (worker: Interactive): ChatEngine => ({
  // The form of an answer is no part of its prompt.
  render: (spec, signal) => worker.call({ type: "render", spec: { ...spec, json_schema: null } }, signal),
  chat: async ({ spec, strict_tools: [strict] }, signal, onEvent) => {
    if (strict === undefined) return worker.call({ type: "chat", spec }, signal, onEvent);
    throw new ImprintError(
      "PROMPT_REFUSED",
      `The tool ${strict} is strict, and this engine has no grammars to hold its calls to their schema: leave strict out, or start the service with --engine llama.cpp.`,
    );
  },
});

import type { ChatResult, ChatSpec, RenderedPrompt } from "@imprint/contracts";
import type { Log } from "../common/error.js";
import { defer } from "../common/promises.js";
import type { ChatEvent, Interactive } from "../runners/runner.js";
import type { Preparing } from "./preparing.js";

/** What an engine is asked. */
export interface Chat {
  readonly spec: ChatSpec;
  /** Names of the tools whose calls should keep to their schema: by an engine's grammars, where those can hold them to it. */
  readonly strict_tools: readonly string[];
}

/** Who answers chats: the trainer, llama.cpp or another server. Both reject with ImprintError, or with the signal's reason. */
export interface ChatEngine {
  /** The tokens of a prompt, as trainings render it. */
  render(spec: ChatSpec, signal?: AbortSignal): Promise<RenderedPrompt>;
  /** `onEvent` is told of the prompt and, with `stream`, of the text as it is generated: all of it before the promise resolves. */
  chat(chat: Chat, signal?: AbortSignal, onEvent?: (event: ChatEvent) => void): Promise<ChatResult>;
  /**
   * Sees to it that what answers the chats of `spec`, whose adapter is not null, has the adapter, and proves that it applies it. Absent
   * from the trainer, which proved it. Rejects as `Prove` does, and with EXPORT_UNSUPPORTED where another server cannot take it.
   */
  handOver?(spec: ChatSpec, signal?: AbortSignal): Promise<void>;
}

/** Says once of each strict tool that nothing holds its calls to their schema. */
export const createUnheld = (log: Log): ((tool: string) => void) => {
  const said = new Set<string>();
  return (tool) => {
    if (!said.has(tool))
      log.warn({ tool }, "no grammar holds the calls of a strict tool to its schema: they are what the model writes");
    said.add(tool);
  };
};

/** The trainer's worker, without grammars: a strict tool's calls are what the model writes. (A schema for the answer it refuses by itself.) */
export const createTrainerEngine = (worker: Interactive, log: Log, preparing: Preparing): ChatEngine => {
  const unheld = createUnheld(log);
  return {
    // The form of an answer is no part of its prompt.
    render: (spec, signal) =>
      preparing.during(
        () => "the trainer starts and renders the prompt",
        worker.call({ type: "render", spec: { ...spec, json_schema: null } }, signal),
      ),
    chat: ({ spec, strict_tools }, signal, onEvent) => {
      strict_tools.forEach(unheld);
      return untilText(preparing, "the trainer loads the model and reads the prompt", onEvent, (tell) =>
        worker.call({ type: "chat", spec }, signal, tell),
      );
    },
  };
};

/** Tells what an engine does until the first word of its answer. */
export const untilText = <T>(
  preparing: Preparing,
  what: string,
  onEvent: ((event: ChatEvent) => void) | undefined,
  work: (tell: (event: ChatEvent) => void) => Promise<T>,
): Promise<T> => {
  const begun = defer<void>();
  void preparing.during(() => what, begun.promise);
  const tell = (event: ChatEvent): void => {
    if (event.type !== "prompt") begun.resolve();
    onEvent?.(event);
  };
  return work(tell).finally(begun.resolve);
};

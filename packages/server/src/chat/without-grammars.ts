import { ImprintError } from "../common/error.js";
import type { Call, CallResult, ChatEvent, Interactive } from "../runners/runner.js";

/** The trainer as an engine: it can hold no call to its tool's schema, and says so. (Schemas of answers it refuses by itself.) */
export const withoutGrammars = (worker: Interactive): Interactive => {
  const call = (request: Call, signal?: AbortSignal, onEvent?: (event: ChatEvent) => void): Promise<CallResult> => {
    if (request.type !== "chat") return request.type === "preview" ? worker.call(request, signal) : worker.call(request, signal);
    const { strict_tools: [first] = [], type, spec } = request;
    if (first === undefined) return worker.call({ type, spec }, signal, onEvent);
    const message = `The tool ${first} is strict, and this engine has no grammars to hold its calls to their schema: leave strict out, or start the service with --engine llama.cpp.`;
    return Promise.reject(new ImprintError("PROMPT_REFUSED", message));
  };
  return { call: call as Interactive["call"] };
};

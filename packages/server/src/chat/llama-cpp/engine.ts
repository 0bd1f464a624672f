import type { ChatSpec, RenderedPrompt } from "@imprint/contracts";
import { ImprintError, type Log } from "../../common/error.js";
import { abortable } from "../../common/promises.js";
import { type Chat, type ChatEngine, createUnheld } from "../engine.js";
import type { ProveLoaded } from "./applied.js";
import type { GgufFiles } from "./gguf-files.js";
import { grammarFor } from "./grammar.js";
import type { LlamaProcess } from "./process.js";

interface Options {
  /** Renders every prompt, and answers what llama.cpp cannot take. */
  readonly trainer: ChatEngine;
  readonly files: GgufFiles;
  readonly llama: LlamaProcess;
  readonly proveLoaded: ProveLoaded;
  readonly log: Log;
}

interface Files {
  readonly model: string;
  readonly adapter: string | null;
}

const TRAINER_ANSWERS: ReadonlySet<string> = new Set(["EXPORT_UNSUPPORTED", "ADAPTER_NOT_APPLIED"]);

/** Chats by llama.cpp: tokens of the trainer's prompt in, text out. */
export const createLlamaCppEngine = ({ trainer, files, llama, proveLoaded, log }: Options): ChatEngine => {
  const unheld = createUnheld(log);
  const named = new Set<string>(); // models that were said to be answered by the trainer

  const loaded = async ({ base_model, adapter_path }: ChatSpec, prompt: RenderedPrompt): Promise<Files> => {
    const model = await files.base(base_model, prompt.quantization);
    const found = { model, adapter: adapter_path && (await files.adapter(adapter_path, base_model)) };
    await proveLoaded(adapter_path, found, prompt);
    return found;
  };

  /** Null where llama.cpp cannot take the base or the adapter, or does not apply it. */
  const filesFor = async ({ spec }: Chat, prompt: RenderedPrompt): Promise<Files | null> => {
    try {
      return await loaded(spec, prompt);
    } catch (error) {
      if (!(error instanceof ImprintError) || !TRAINER_ANSWERS.has(error.code)) throw error;
      const model = spec.adapter_path ?? spec.base_model;
      if (!named.has(model)) log.warn({ reason: error.message }, "llama.cpp cannot take a model; the trainer answers its chats");
      named.add(model);
      return null;
    }
  };

  const chat: ChatEngine["chat"] = async (request, signal, onEvent) => {
    const { spec, strict_tools } = request;
    const prompt = await trainer.render(spec, signal);
    const { prompt_tokens, tool_format, opening, tokens, max_new_tokens } = prompt;
    if (spec.max_tokens === 0) return { text: "", finish_reason: "length", stop_text: null, prompt_tokens, completion_tokens: 0 };
    const found = await abortable(filesFor(request, prompt), signal);
    if (found === null) return trainer.chat(request, signal, onEvent);
    const grammar = grammarFor(spec, tool_format, (tool) => strict_tools.includes(tool) && unheld(tool));
    onEvent?.({ type: "prompt", prompt: { prompt_tokens, tool_format } });
    let text = "";
    const tell = (piece: string): void => {
      text += piece;
      if (spec.stream) onEvent?.({ type: "token", text: piece });
    };
    if (opening !== "") tell(opening);
    const { context_length, end_tokens } = prompt;
    const { temperature, top_p, top_k, min_p, seed, stop } = spec;
    const { finish_reason, stop_text, completion_tokens } = await llama.generate(
      {
        ...found,
        tokens,
        max_new_tokens,
        context_length,
        end_tokens,
        temperature,
        top_p,
        top_k,
        min_p,
        seed,
        stop,
        special: tool_format !== null,
        opening,
        grammar,
      },
      tell,
      signal,
    );
    const begun = tokens.length - prompt_tokens;
    return { text, finish_reason, stop_text, prompt_tokens, completion_tokens: begun + completion_tokens };
  };

  const handOver: ChatEngine["handOver"] = async (spec, signal) => {
    try {
      await abortable(loaded(spec, await trainer.render(spec, signal)), signal);
    } catch (error) {
      if (!(error instanceof ImprintError) || error.code !== "EXPORT_UNSUPPORTED") throw error; // the trainer's
    }
  };

  return { render: trainer.render, chat, handOver };
};

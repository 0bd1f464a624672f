import type { ChatResult, ErrorCode, RenderedPrompt } from "@imprint/contracts";
import { ImprintError, type Log } from "../../common/error.js";
import { abortable } from "../../common/promises.js";
import type { ChatEvent } from "../../runners/runner.js";
import { type Chat, type ChatEngine, createUnheld, untilText } from "../engine.js";
import type { Preparing } from "../preparing.js";
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
  readonly preparing: Preparing;
  readonly log: Log;
}

interface Files {
  readonly model: string;
  readonly adapter: string | null;
}

type Tell = (event: ChatEvent) => void;

/** What the trainer answers instead, where nothing was told yet: llama.cpp takes no such model, cannot load it, does not apply the adapter, or crashed over it. */
const TRAINER_ANSWERS: ReadonlySet<ErrorCode> = new Set(["EXPORT_UNSUPPORTED", "ADAPTER_NOT_APPLIED", "WORKER_CRASHED"]);

/** Chats by llama.cpp: tokens of the trainer's prompt in, text out. */
export const createLlamaCppEngine = ({ trainer, files, llama, proveLoaded, preparing, log }: Options): ChatEngine => {
  const unheld = createUnheld(log);
  const said = new Set<string>(); // why the trainer answers

  const filesFor = async ({ base_model, adapter_path }: Chat["spec"], prompt: RenderedPrompt): Promise<Files> => {
    const model = await files.base(base_model, prompt.quantization);
    const found = { model, adapter: adapter_path && (await files.adapter(adapter_path, base_model)) };
    await proveLoaded(adapter_path, found, prompt);
    return found;
  };

  const answer = async (
    { spec, strict_tools }: Chat,
    {
      prompt,
      found,
      signal,
      tell,
    }: { readonly prompt: RenderedPrompt; readonly found: Files; readonly signal: AbortSignal | undefined; readonly tell: Tell },
  ): Promise<ChatResult> => {
    const { prompt_tokens, tool_format, opening, tokens, max_new_tokens, context_length, end_tokens } = prompt;
    const grammar = grammarFor(spec, tool_format, (tool) => strict_tools.includes(tool) && unheld(tool));
    let text = opening;
    let begun = false;
    const begin = (): void => {
      if (begun) return;
      begun = true;
      tell({ type: "prompt", prompt: { prompt_tokens, tool_format } });
      if (opening !== "" && spec.stream) tell({ type: "token", text: opening });
    };
    const add = (piece: string): void => {
      begin();
      text += piece;
      if (spec.stream) tell({ type: "token", text: piece });
    };
    const { temperature, top_p, top_k, min_p, seed, stop } = spec;
    const sampling = { temperature, top_p, top_k, min_p, seed, stop };
    const asked = { ...found, ...sampling, tokens, max_new_tokens, context_length, end_tokens, opening, grammar };
    const generated = await llama.generate({ ...asked, special: tool_format !== null }, add, signal);
    begin();
    const { finish_reason, stop_text, completion_tokens } = generated;
    const written = tokens.length - prompt_tokens;
    return { text, finish_reason, stop_text, prompt_tokens, completion_tokens: written + completion_tokens };
  };

  const chat: ChatEngine["chat"] = async (request, signal, onEvent) => {
    const { spec } = request;
    const prompt = await trainer.render(spec, signal);
    const { prompt_tokens } = prompt;
    if (spec.max_tokens === 0) return { text: "", finish_reason: "length", stop_text: null, prompt_tokens, completion_tokens: 0 };
    let told = false;
    const listen: Tell = (event) => {
      told = true;
      onEvent?.(event);
    };
    try {
      const found = await abortable(filesFor(spec, prompt), signal);
      const what = `llama.cpp loads the model and reads the prompt: ${prompt_tokens} tokens`;
      return await untilText(preparing, what, listen, (tell) => answer(request, { prompt, found, signal, tell }));
    } catch (error) {
      if (told || !(error instanceof ImprintError) || !TRAINER_ANSWERS.has(error.code)) throw error;
      const reason = error.message;
      if (!said.has(`${spec.base_model}\n${reason}`))
        log.warn({ reason }, "llama.cpp cannot answer for a model; the trainer answers its chats");
      said.add(`${spec.base_model}\n${reason}`);
      return trainer.chat(request, signal, onEvent);
    }
  };

  const handOver: ChatEngine["handOver"] = async (spec, signal) => {
    try {
      await abortable(filesFor(spec, await trainer.render(spec, signal)), signal);
    } catch (error) {
      if (!(error instanceof ImprintError) || error.code !== "EXPORT_UNSUPPORTED") throw error; // the trainer's
    }
  };

  return { render: trainer.render, chat, handOver };
};

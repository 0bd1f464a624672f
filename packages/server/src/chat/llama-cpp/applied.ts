import type { RenderedPrompt } from "@imprint/contracts";
import { type Prove, pairsOf, type Said } from "../applied.js";
import type { LlamaProcess } from "./process.js";

interface Files {
  readonly model: string;
  readonly adapter: string | null;
}

/** Proves once for each file of an adapter that llama.cpp applies it. Rejects as `Prove` does. */
export type ProveLoaded = (adapter: string | null, files: Files, prompt: RenderedPrompt, signal?: AbortSignal) => Promise<void>;

export const createProveLoaded = (llama: LlamaProcess, prove: Prove): ProveLoaded => {
  const proved = new Set<string>();
  return async (adapter, { model, adapter: file }, { tokens, context_length }, signal) => {
    if (adapter === null || file === null || proved.has(file)) return;
    const say = async (asked: readonly number[], isAdapted: boolean): Promise<Said> => {
      const found = await llama.likeliest({ model, adapter: isAdapted ? file : null, tokens: asked, context_length }, signal);
      return { text: "", likeliest: new Map(found.map(([token, logprob]) => [`${token}`, logprob])) };
    };
    await prove({ adapter, by: "llama.cpp", ask: (prompts) => pairsOf(prompts.length === 0 ? [tokens] : prompts, say) });
    proved.add(file);
  };
};

import type { AnswerGrammar } from "./grammar.js";

/** What the process that holds llama.cpp is asked: tokens in, text out. */
export interface Generation {
  /** GGUF files. */
  readonly model: string;
  readonly adapter: string | null;
  readonly tokens: readonly number[];
  readonly max_new_tokens: number;
  readonly context_length: number;
  readonly end_tokens: readonly number[];
  readonly temperature: number;
  readonly top_p: number;
  readonly top_k: number;
  readonly min_p: number;
  readonly seed: number;
  readonly stop: readonly string[];
  /** Whether the text shows control tokens: some families begin a call with one. */
  readonly special: boolean;
  /** What the answer begins with, written for the model: part of the prompt. */
  readonly opening: string;
  readonly grammar: AnswerGrammar | null;
}

export interface Generated {
  readonly finish_reason: "stop" | "length";
  readonly stop_text: string | null;
  readonly completion_tokens: number;
  /** Tokens of the prompt that an earlier answer had left computed. */
  readonly cached_tokens: number;
}

/** A token and the logarithm of its probability. */
export type Likely = readonly [token: number, logprob: number];

/** Tokens whose likeliest next ones are asked for. */
export type Prompted = Pick<Generation, "model" | "adapter" | "tokens" | "context_length">;

export type EngineRequest =
  | { readonly type: "likeliest"; readonly id: number; readonly prompted: Prompted }
  | { readonly type: "generate"; readonly id: number; readonly generation: Generation }
  | { readonly type: "cancel"; readonly id: number };

export type EngineMessage =
  | { readonly type: "text"; readonly id: number; readonly text: string }
  | { readonly type: "done"; readonly id: number; readonly generated: Generated | readonly Likely[] }
  | {
      readonly type: "failed";
      readonly id: number;
      readonly message: string;
      /** Whether llama.cpp and the model were loaded. */
      readonly loaded: boolean;
    };

/** The part of node-llama-cpp that is used: its types are there only once it is installed. */
export interface Library {
  /** Where an answer stands in a grammar: what may follow, and nothing once the grammar is through. */
  readonly LlamaGrammarEvaluationState: new (options: {
    readonly model: Model;
    readonly grammar: Grammar;
  }) => GrammarState;
  getLlama(options: {
    readonly gpu: false | "auto";
    readonly build: "never";
    readonly maxThreads: number;
    readonly progressLogs: false;
    readonly logLevel: "error";
  }): Promise<Llama>;
}

type Grammar = object;
export type GrammarState = object;

export interface Llama {
  /** Of all answers together. */
  maxThreads: number;
  createGrammar(options: { readonly grammar: string }): Promise<Grammar>;
  loadModel(options: { readonly modelPath: string }): Promise<Model>;
}

export interface Model {
  createContext(options: {
    readonly contextSize: number;
    readonly sequences: number;
    readonly threads: { readonly ideal: number; readonly min: number };
    readonly failedCreationRemedy: false;
    readonly lora?: { readonly adapters: readonly { readonly filePath: string }[] };
  }): Promise<Context>;
  /** Whether the token ends an answer for llama.cpp, as alone may follow a grammar that is through. */
  isEogToken(token: number): boolean;
  detokenize(tokens: readonly number[], specialTokens: boolean): string;
  dispose(): Promise<void>;
}

export interface Context {
  getSequence(): Sequence;
  dispose(): Promise<void>;
}

export interface Sequence {
  readonly nextTokenIndex: number;
  compareContextTokens(tokens: readonly number[]): { readonly firstDifferentIndex: number };
  /** Forgets what differs from `tokens`. */
  adaptStateToTokens(tokens: readonly number[], allowShift: boolean): Promise<void>;
  evaluateWithMetadata(
    tokens: readonly number[],
    metadata: { readonly probabilities: true },
    options: { readonly temperature: number; readonly yieldEogToken: true },
  ): AsyncGenerator<{ readonly probabilities: ReadonlyMap<number, number> }, void>;
  evaluate(
    tokens: readonly number[],
    options: {
      readonly temperature: number;
      readonly topP: number;
      readonly topK: number;
      readonly minP: number;
      readonly seed: number;
      readonly yieldEogToken: true;
      readonly grammarEvaluationState?: () => GrammarState | undefined;
    },
  ): AsyncGenerator<number, void>;
}

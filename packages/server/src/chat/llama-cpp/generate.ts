import { createDetokenizer, createStopTexts, type Detokenizer } from "./answer-text.js";
import type { ContextRequest, Place } from "./contexts.js";
import { type AnswerGrammar, grammarAfter } from "./grammar.js";
import type { GrammarState, Model } from "./library.js";
import type { Generated, Generation } from "./protocol.js";

const WORD = 2 ** 32;
/** Of an answer: a context has room for so many at first, and the answer that needs more goes on in a longer one. */
const FIRST_ROOM = 1024;

/** Of tokens that only repeat a few: such an answer would go on to the end of the context, as small models' likeliest words do. */
const [ENDLESS, PERIOD] = [512, 32];

const isEndless = (last: readonly number[]): boolean =>
  Array.from({ length: PERIOD }, (_, at) => at + 1).some((period) =>
    last.every((token, at) => at < period || token === last[at - period]),
  );

/** llama.cpp's seeds have 32 bits: the upper ones of a larger seed count too. */
const fold = (seed: number): number => ((seed % WORD) ^ Math.floor(seed / WORD)) >>> 0;

interface Hold {
  add(text: string, model: Model): Promise<void>;
  state(): GrammarState | undefined;
}

/** Holds an answer to its form from where that begins: at once, or with the mark of its first call. */
const createHold = (grammar: AnswerGrammar, begin: Surroundings["begin"]): Hold => {
  let told = "";
  let state: GrammarState | undefined;
  return {
    add: async (text, model) => {
      told += text;
      if (state !== undefined) return;
      const gbnf = grammarAfter(told, grammar);
      if (gbnf !== null) state = await begin(model, gbnf);
    },
    state: () => state,
  };
};

export interface Surroundings {
  take(request: ContextRequest): Promise<Place>;
  /** The state of a grammar at its beginning. */
  begin(model: Model, gbnf: string): Promise<GrammarState>;
  onText(text: string): void;
  cancelled(): boolean;
}

/** One answer, told as it comes; ended early where `cancelled` says so. */
export const generate = async (generation: Generation, { take, begin, onText, cancelled }: Surroundings): Promise<Generated> => {
  const { temperature, top_p, top_k, min_p, seed, special, max_new_tokens } = generation;
  const ends = new Set(generation.end_tokens);
  const stops = createStopTexts(generation.stop);
  const hold = generation.grammar && createHold(generation.grammar, begin);
  const tokens = [...generation.tokens];
  const tell = (text: string): void => {
    if (text !== "") onText(text);
  };
  const options = {
    temperature,
    topP: top_p,
    topK: top_k,
    minP: min_p,
    seed: fold(seed),
    yieldEogToken: true,
    ...(hold && { grammarEvaluationState: hold.state }),
  } as const;
  let characters: Detokenizer | null = null;
  let cached_tokens: number | null = null;
  let completion_tokens = 0;
  let [ended, over] = [false, false];

  /** Until the answer is over, or the place is full. */
  const goOn = async ({ model, sequence, size }: Place): Promise<void> => {
    characters ??= createDetokenizer((some) => model.detokenize(some, special));
    if (cached_tokens === null) await hold?.add(generation.opening, model);
    // The last one is computed again: what follows is what it predicts.
    await sequence.adaptStateToTokens(tokens.slice(0, -1), false);
    const from = sequence.nextTokenIndex;
    cached_tokens ??= from;
    for await (const token of sequence.evaluate(tokens.slice(from), options)) {
      over = cancelled();
      if (over) return;
      tokens.push(token);
      completion_tokens += 1;
      ended = ends.has(token) || (hold?.state() !== undefined && model.isEogToken(token));
      if (!ended) {
        const text = characters.add(token);
        await hold?.add(text, model);
        tell(stops.add(text));
      }
      over = ended || stops.found() !== null || completion_tokens >= max_new_tokens;
      over ||= completion_tokens >= ENDLESS && isEndless(tokens.slice(-ENDLESS));
      if (over || tokens.length >= size) return;
    }
  };

  while (!over && !cancelled()) {
    const room = Math.min(FIRST_ROOM, max_new_tokens - completion_tokens);
    const place = await take({ ...generation, tokens, room });
    try {
      if (!cancelled()) await goOn(place);
    } finally {
      place.release();
    }
  }
  if (stops.found() === null) tell(stops.add((characters as Detokenizer | null)?.rest() ?? ""));
  if (stops.found() === null) tell(stops.rest());
  const finish_reason = ended || stops.found() !== null ? "stop" : "length";
  return { finish_reason, stop_text: stops.found(), completion_tokens, cached_tokens: cached_tokens ?? 0 };
};

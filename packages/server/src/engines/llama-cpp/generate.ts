import { createDetokenizer } from "../detokenizer.js";
import { createStopTexts } from "../stop-texts.js";
import type { Place } from "./contexts.js";
import type { Generated, Generation } from "./protocol.js";

const WORD = 2 ** 32;

/** llama.cpp's seeds have 32 bits: the upper ones of a larger seed count too. */
const fold = (seed: number): number => ((seed % WORD) ^ Math.floor(seed / WORD)) >>> 0;

/** One answer, told as it comes; ended early where `cancelled` says so. */
export const generate = async (
  generation: Generation,
  { model, sequence }: Pick<Place, "model" | "sequence">,
  { onText, cancelled }: { readonly onText: (text: string) => void; readonly cancelled: () => boolean },
): Promise<Generated> => {
  const { tokens, temperature, top_p, seed, special, max_new_tokens } = generation;
  const ends = new Set(generation.end_tokens);
  const characters = createDetokenizer((some) => model.detokenize(some, special));
  const stops = createStopTexts(generation.stop);
  const tell = (text: string): void => {
    if (text !== "") onText(text);
  };
  // The last one is computed again: the answer begins with what it predicts.
  await sequence.adaptStateToTokens(tokens.slice(0, -1), false);
  const cached_tokens = sequence.nextTokenIndex;
  const sampling = { temperature, topP: top_p, topK: 0, minP: 0, seed: fold(seed) };
  let completion_tokens = 0;
  let ended = false;
  for await (const token of sequence.evaluate(tokens.slice(cached_tokens), { ...sampling, yieldEogToken: true })) {
    if (cancelled()) break;
    completion_tokens += 1;
    ended = ends.has(token);
    if (!ended) tell(stops.add(characters.add(token)));
    if (ended || stops.found() !== null || completion_tokens >= max_new_tokens) break;
  }
  if (stops.found() === null) tell(stops.add(characters.rest()));
  if (stops.found() === null) tell(stops.rest());
  const finish_reason = ended || stops.found() !== null ? "stop" : "length";
  return { finish_reason, stop_text: stops.found(), completion_tokens, cached_tokens };
};

import type { Call } from "./call.js";
import { accept, type Input, type Reading, run, until } from "./input.js";

/** Objects and lists inside of each other: more is no call. */
const MAX_DEPTH = 64;

/** `call:name{key:value,..}`, texts between two `quote` marks (Gemma 4, FunctionGemma). */
export const gemmaCalls = (quote: string) =>
  function* (input: Input): Reading<readonly Call[]> {
    if (!(yield* accept(input, "call:"))) return null;
    const name = yield* run(input, /[\w.:/-]/);
    if (name === null || !(yield* accept(input, "{"))) return null;
    const written = yield* members(input, quote, 0);
    return written === null ? null : [{ name, arguments: written }];
  };

function* members(input: Input, quote: string, depth: number): Reading<string> {
  const written: string[] = [];
  while (!(yield* accept(input, "}"))) {
    if (written.length > 0 && !(yield* accept(input, ","))) return null;
    const key: string | null = (yield* accept(input, quote)) ? yield* until(input, quote) : yield* run(input, /[^\s:,{}[\]<>]/);
    if (key === null || !(yield* accept(input, ":"))) return null;
    const text: string | null = yield* value(input, quote, depth + 1);
    if (text === null) return null;
    written.push(`${JSON.stringify(key)}: ${text}`);
  }
  return `{${written.join(", ")}}`;
}

function* items(input: Input, quote: string, depth: number): Reading<string> {
  const written: string[] = [];
  while (!(yield* accept(input, "]"))) {
    if (written.length > 0 && !(yield* accept(input, ","))) return null;
    const text: string | null = yield* value(input, quote, depth + 1);
    if (text === null) return null;
    written.push(text);
  }
  return `[${written.join(", ")}]`;
}

/** A value, as JSON. */
function* value(input: Input, quote: string, depth: number): Reading<string> {
  if (depth > MAX_DEPTH) return null;
  if (yield* accept(input, "{")) return yield* members(input, quote, depth);
  if (yield* accept(input, "[")) return yield* items(input, quote, depth);
  if (yield* accept(input, quote)) {
    const text = yield* until(input, quote);
    return text === null ? null : JSON.stringify(text);
  }
  const word = yield* run(input, /[\w.+-]/);
  return word !== null && /^(true|false|null|-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?)$/.test(word) ? word : null;
}

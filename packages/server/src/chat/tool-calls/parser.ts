import type { Call, Tool } from "./call.js";
import { type Syntax, syntaxesOf } from "./formats.js";
import { accept, begun, Input } from "./input.js";

/** A call comes whole. */
export type ToolCallEvent = { readonly type: "text"; readonly text: string } | ({ readonly type: "call" } & Call);

export interface ToolCallParser {
  readonly push: (text: string) => readonly ToolCallEvent[];
  /** No text follows: what was held back is told. */
  readonly end: () => readonly ToolCallEvent[];
}

/**
 * Reads the calls out of an answer as it comes. A call is told once it is whole; what only looks like one stays text, in its
 * place. Without a format no call is read; one that is not known is the one that all models understand. `tools` say which of
 * Qwen3-Coder's values are not texts. White space around calls belongs to them: behind them, up to the next words, and of what stands
 * before them one line break.
 */
export const toolCallParser = (format: string | null, tools: readonly Tool[] = []): ToolCallParser => {
  const input = new Input();
  let events: ToolCallEvent[] = [];
  const reader = scan(input, { syntaxes: syntaxesOf(format), tools, tell: (event) => events.push(event) });
  const read = (): readonly ToolCallEvent[] => {
    reader.next();
    const told = events;
    events = [];
    return told;
  };
  return {
    push: (text) => {
      input.text += text;
      return read();
    },
    end: () => {
      input.ended = true;
      return read();
    },
  };
};

interface Scan {
  readonly syntaxes: readonly Syntax[];
  readonly tools: readonly Tool[];
  readonly tell: (event: ToolCallEvent) => void;
}

function* scan(input: Input, { syntaxes, tools, tell }: Scan): Generator<void, void> {
  let afterCall = false;
  let fresh = true; // no words since the answer's beginning, or since a call
  const tellText = (length: number): void => {
    if (length > 0) tell({ type: "text", text: input.text.slice(0, length) });
    input.at = length;
    input.drop();
  };
  for (;;) {
    const place = fresh ? next(input, syntaxes, afterCall) : search(input, syntaxes);
    if (place.words > 0) tellText(place.words);
    if (place.words > 0 || place.kind === "words") fresh = false;
    if (place.kind === "wait") {
      if (input.ended) return afterCall && fresh ? undefined : tellText(input.text.length);
      yield;
    } else if (place.kind === "mark") {
      const { syntax, lead } = place;
      input.at = lead + (syntax.bare ? 0 : syntax.opening.length);
      const found = yield* syntax.read(input, tools);
      if (found === null) {
        fresh = false;
        tellText(lead + syntax.opening.length);
        continue;
      }
      for (const call of found) tell({ type: "call", ...call });
      fresh = true;
      afterCall = true;
      if (syntax.closing) yield* accept(input, syntax.closing);
      input.drop();
    }
  }
}

/** `words` characters that are no part of a call; then a mark behind `lead` characters, or what may become one. */
type Place =
  | { readonly kind: "words"; readonly words: number }
  | { readonly kind: "wait"; readonly words: number }
  | { readonly kind: "mark"; readonly words: number; readonly lead: number; readonly syntax: Syntax };

/** What the text begins with, where calls may follow each other: Llama parts them by semicolons. */
const next = ({ text, ended }: Input, syntaxes: readonly Syntax[], afterCall: boolean): Place => {
  const separators = afterCall && syntaxes.some(({ bare }) => bare) ? /^[\s;]*/ : /^\s*/;
  const lead = separators.exec(text)?.[0].length ?? 0;
  const rest = text.slice(lead);
  const syntax = syntaxes.find(({ opening }) => rest.startsWith(opening));
  if (syntax) return { kind: "mark", words: 0, lead, syntax };
  const mayFollow = syntaxes.some(({ opening }) => opening.startsWith(rest));
  return { kind: mayFollow && !(ended && rest !== "") ? "wait" : "words", words: 0 };
};

/** The first mark among words. */
const search = ({ text }: Input, syntaxes: readonly Syntax[]): Place => {
  const marks = syntaxes.filter(({ bare }) => !bare);
  const places = marks.map((syntax) => ({ syntax, at: text.indexOf(syntax.opening) })).filter(({ at }) => at >= 0);
  const first = places.reduce((one, other) => (other.at < one.at ? other : one), places[0] ?? { at: -1, syntax: null });
  if (first.syntax) {
    const lead = text[first.at - 1] === "\n" ? 1 : 0;
    return { kind: "mark", words: first.at - lead, lead, syntax: first.syntax };
  }
  const held = Math.max(0, ...marks.flatMap(({ opening }) => [opening, `\n${opening}`]).map((mark) => begun(text, mark)));
  return { kind: "wait", words: text.length - held };
};

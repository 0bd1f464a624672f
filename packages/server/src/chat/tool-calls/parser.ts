import { TOOL_CALL_FORMATS, type ToolCallFormat } from "@imprint/contracts";
import type { Call, Tool } from "./call.js";
import { begun, Input } from "./input.js";
import { readPattern, wordsOf } from "./readers.js";

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
 * the values between tags are not texts. White space around calls belongs to them: behind them, up to the next words, and of
 * what stands before them one line break.
 */
export const toolCallParser = (format: string | null, tools: readonly Tool[] = []): ToolCallParser => {
  const input = new Input();
  let events: ToolCallEvent[] = [];
  const known = format === null ? NO_CALLS : (TOOL_CALL_FORMATS[format] ?? GENERIC);
  const reader = scan(input, { format: known, tools, tell: (event) => events.push(event) });
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

const NO_CALLS: ToolCallFormat = { begins: "", calls: [] };
const GENERIC = TOOL_CALL_FORMATS.generic ?? NO_CALLS;

/** A pattern as `text, slot, text, ..`, and what it begins with: a mark, or, where it is bare, a call itself. */
interface Pattern {
  readonly parts: readonly string[];
  readonly opening: string;
  readonly bare: boolean;
}

const patternOf = (pattern: string): Pattern => {
  const [opening = "", bare] = [wordsOf(pattern)[0], pattern === "{bare}"];
  return { parts: pattern.split(/\{(\w+)\}/), opening: bare ? "{" : opening, bare };
};

interface Scan {
  readonly format: ToolCallFormat;
  readonly tools: readonly Tool[];
  readonly tell: (event: ToolCallEvent) => void;
}

function* scan(input: Input, { format, tools, tell }: Scan): Generator<void, void> {
  const patterns = [...format.calls, ...(format.left_out ?? [])].map(patternOf);
  let afterCall = false;
  let fresh = true; // no words since the answer's beginning, or since a call
  const tellText = (length: number): void => {
    if (length > 0) tell({ type: "text", text: input.text.slice(0, length) });
    input.at = length;
    input.drop();
  };
  for (;;) {
    const place: Place = fresh ? next(input, patterns, afterCall) : search(input, patterns);
    if (place.words > 0) tellText(place.words);
    if (place.words > 0 || place.kind === "words") fresh = false;
    if (place.kind === "wait") {
      if (input.ended) return afterCall && fresh ? undefined : tellText(input.text.length);
      yield;
    } else if (place.kind === "mark") {
      fresh = false;
      const { lead, opening }: { readonly lead: number; readonly opening: string } = place;
      const tried: readonly Pattern[] = patterns.filter((one) => one.opening === opening);
      for (const pattern of tried) {
        input.at = lead;
        fresh = yield* readPattern(input, pattern.parts, { format, tools, tell: (call) => tell({ type: "call", ...call }) });
        if (fresh) break;
      }
      if (fresh) input.drop();
      else tellText(lead + opening.length);
      afterCall ||= fresh;
    }
  }
}

/** `words` characters that are no part of a call; then a mark behind `lead` characters, or what may become one. */
type Place =
  | { readonly kind: "words"; readonly words: number }
  | { readonly kind: "wait"; readonly words: number }
  | { readonly kind: "mark"; readonly words: number; readonly lead: number; readonly opening: string };

/** What the text begins with, where calls may follow each other: Llama parts them by semicolons. */
const next = ({ text, ended }: Input, patterns: readonly Pattern[], afterCall: boolean): Place => {
  const separators = afterCall && patterns.some(({ bare }) => bare) ? /^[\s;]*/ : /^\s*/;
  const lead = separators.exec(text)?.[0].length ?? 0;
  const rest = text.slice(lead);
  const found = patterns.find(({ opening }) => rest.startsWith(opening));
  if (found) return { kind: "mark", words: 0, lead, opening: found.opening };
  const mayFollow = patterns.some(({ opening }) => opening.startsWith(rest));
  return { kind: mayFollow && !(ended && rest !== "") ? "wait" : "words", words: 0 };
};

/** The first mark among words. */
const search = ({ text }: Input, patterns: readonly Pattern[]): Place => {
  const marks = patterns.flatMap(({ opening, bare }) => (bare ? [] : [opening]));
  const places = marks.map((opening) => ({ opening, at: text.indexOf(opening) })).filter(({ at }) => at >= 0);
  const first = places.reduce((one, other) => (other.at < one.at ? other : one), places[0] ?? { at: -1, opening: null });
  if (first.opening !== null) {
    const lead = text[first.at - 1] === "\n" ? 1 : 0;
    return { kind: "mark", words: first.at - lead, lead, opening: first.opening };
  }
  const held = Math.max(0, ...marks.flatMap((opening) => [opening, `\n${opening}`]).map((mark) => begun(text, mark)));
  return { kind: "wait", words: text.length - held };
};

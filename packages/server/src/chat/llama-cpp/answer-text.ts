import { begun } from "../tool-calls/input.js";

/** How a decoder shows a character whose last bytes are still to come. */
const INCOMPLETE = "\ufffd";

export interface Detokenizer {
  /** The text that became whole with this token; often none. */
  add(token: number): string;
  /** What never became whole. */
  rest(): string;
}

/** Tokens in, whole characters out: all pieces and the rest together are the text of all tokens. */
export const createDetokenizer = (decode: (tokens: readonly number[]) => string): Detokenizer => {
  let tokens: number[] = [];
  let told = 0; // tokens whose text was given out
  const untold = (): string => decode(tokens).slice(decode(tokens.slice(0, told)).length);
  return {
    add(token) {
      tokens.push(token);
      const piece = untold();
      if (piece === "" || piece.endsWith(INCOMPLETE)) return "";
      // What was given out last stays: some decoders write a token differently at the start of a text.
      tokens = tokens.slice(told);
      told = tokens.length;
      return piece;
    },
    rest: untold,
  };
};

export interface StopTexts {
  /** Text up to the first stop text; what may be the beginning of one is held back. */
  add(piece: string): string;
  /** What was held back, once nothing follows any more. */
  rest(): string;
  /** The text that ended the answer. */
  found(): string | null;
}

/** The one that was complete first ends the text, so that the cut does not depend on how the text came in pieces. */
export const createStopTexts = (stops: readonly string[]): StopTexts => {
  let held = "";
  let found: string | null = null;
  return {
    add(piece) {
      held += piece;
      const places = stops.flatMap((stop) => (held.includes(stop) ? [{ stop, start: held.indexOf(stop) }] : []));
      const [first] = places.toSorted((a, b) => a.start + a.stop.length - (b.start + b.stop.length) || a.start - b.start);
      if (first) {
        const text = held.slice(0, first.start);
        found = first.stop;
        held = "";
        return text;
      }
      const kept = Math.max(0, ...stops.map((stop) => begun(held, stop)));
      const text = held.slice(0, held.length - kept);
      held = held.slice(held.length - kept);
      return text;
    },
    rest: () => held,
    found: () => found,
  };
};

const TOGETHER_MS = 50;

/**
 * Tells a text at once where none was told a moment ago, and else with what follows until then: each message wakes the service, on a
 * core that computes. `end` tells the rest.
 */
export const createPieces = (tell: (text: string) => void): { add(text: string): void; end(): void } => {
  let held = "";
  let timer: NodeJS.Timeout | undefined;
  const next = (): void => {
    const text = held;
    held = "";
    timer = text === "" ? undefined : setTimeout(next, TOGETHER_MS);
    if (text !== "") tell(text);
  };
  return {
    add(text) {
      held += text;
      if (timer === undefined) next();
    },
    end() {
      clearTimeout(timer);
      next();
      clearTimeout(timer);
    },
  };
};

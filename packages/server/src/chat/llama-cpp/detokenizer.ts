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

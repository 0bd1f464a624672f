/** Text that is still coming. Readers are generators that pause where it ends for now, so how it was torn changes nothing. */
export class Input {
  text = "";
  at = 0;
  ended = false;

  /** Forgets what was read. */
  drop(): void {
    this.text = this.text.slice(this.at);
    this.at = 0;
  }
}

/** A reader's result, or null where the text is something else; where it stopped then does not matter. */
export type Reading<T> = Generator<void, T | null>;

/** Whether a character is there, after waiting for it; false at the end of the text. */
export function* more(input: Input): Generator<void, boolean> {
  while (input.at >= input.text.length) {
    if (input.ended) return false;
    yield;
  }
  return true;
}

/** Goes over white space, and over `mark` where it stands behind it; else goes nowhere. */
export function* accept(input: Input, mark: string): Generator<void, boolean> {
  const from = input.at;
  yield* space(input);
  for (const character of mark) {
    if (!(yield* more(input)) || !input.text.startsWith(character, input.at)) {
      input.at = from;
      return false;
    }
    input.at += character.length;
  }
  return true;
}

export function* space(input: Input): Generator<void, void> {
  while ((yield* more(input)) && /\s/.test(input.text.charAt(input.at))) input.at += 1;
}

/** The characters that match, one at least. */
export function* run(input: Input, wanted: RegExp): Reading<string> {
  const from = input.at;
  while ((yield* more(input)) && wanted.test(input.text.charAt(input.at))) input.at += 1;
  return input.at > from ? input.text.slice(from, input.at) : null;
}

/** What stands before the next `mark`, which is gone over too. */
export function* until(input: Input, mark: string): Reading<string> {
  const from = input.at;
  for (;;) {
    const found = input.text.indexOf(mark, input.at);
    if (found >= 0) {
      input.at = found + mark.length;
      return input.text.slice(from, found);
    }
    if (input.ended) return null;
    input.at = Math.max(from, input.text.length - mark.length + 1);
    yield;
  }
}

/** How many characters at the end of `text` are the beginning of `mark`. */
export const begun = (text: string, mark: string): number => {
  for (let length = Math.min(text.length, mark.length - 1); length > 0; length -= 1)
    if (text.endsWith(mark.slice(0, length))) return length;
  return 0;
};

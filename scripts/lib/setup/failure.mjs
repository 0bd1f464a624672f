/** A set-up that cannot go on, in a sentence for the person who started it. `output` is what the failing program said. */
export class SetupFailure extends Error {
  constructor(sentence, { output = "" } = {}) {
    super(sentence);
    this.name = "SetupFailure";
    this.output = output;
  }
}

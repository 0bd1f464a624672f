/** A set-up that cannot go on, in a sentence for the person who started it. `output` is what the failing program said. */
export class SetupFailure extends Error {
  constructor(sentence, { output = "" } = {}) {
    super(sentence);
    this.name = "SetupFailure";
    this.output = output;
  }
}

/** A program that exited non-zero, was killed or ran out of time. */
export class CommandFailure extends Error {
  constructor({ command, code = null, signal = null, timedOutMs = null, output = "" }) {
    const how =
      timedOutMs !== null
        ? `ran longer than ${Math.round(timedOutMs / 1000)} s`
        : signal
          ? `was ended by ${signal}`
          : `exited with code ${code}`;
    super(`${command} ${how}`);
    this.name = "CommandFailure";
    Object.assign(this, { command, code, signal, timedOutMs, output });
  }
}

/** The set-up was interrupted (Ctrl-C) or another part of it failed first. */
export class Interrupted extends Error {
  constructor() {
    super("interrupted");
    this.name = "Interrupted";
  }
}

/** A program that could not be started, exited non-zero, was killed or ran out of time. `output` is what it said, `stdout` the part that it printed. */
export class CommandFailure extends Error {
  constructor({ command, code = null, signal = null, timedOutMs = null, output = "", stdout = "" }) {
    const ended = signal ? `was ended by ${signal}` : `exited with code ${code}`;
    super(`${command} ${timedOutMs === null ? ended : `ran longer than ${Math.round(timedOutMs / 1000)} s and was ended`}`);
    this.name = "CommandFailure";
    Object.assign(this, { command, code, signal, timedOutMs, output, stdout });
  }
}

/** The work was interrupted (Ctrl-C), or something that runs beside it failed first. */
export class Interrupted extends Error {
  constructor() {
    super("interrupted");
    this.name = "Interrupted";
  }
}

/** A set-up that cannot go on, in a sentence for the person who started it. `output` is what the failing program said. */
export class SetupFailure extends Error {
  constructor(sentence, { output = "" } = {}) {
    super(sentence);
    this.name = "SetupFailure";
    this.output = output;
  }
}

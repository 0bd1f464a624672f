/** The service cannot start for a reason that its user can mend: the message says how. */
export class CannotStartError extends Error {
  override readonly name: string = "CannotStartError";
}

/** The configuration cannot be used. Each problem is one sentence that names the setting and where its value came from. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";

  constructor(readonly problems: readonly string[]) {
    super(problems.join("\n"));
  }
}

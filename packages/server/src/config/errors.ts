/** The configuration cannot be used. Each problem is one sentence that names the setting and where its value came from. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";

  constructor(readonly problems: readonly string[]) {
    super(problems.join("\n"));
  }
}

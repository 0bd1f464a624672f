import type { Limits } from "./source/limits.js";

/** The file is no session, or no longer readable as one. `message` is a sentence that says what was looked for. */
export class SessionUnreadable extends Error {
  readonly code = "SESSION_UNREADABLE";
  override readonly name = "SessionUnreadable";
  /** Which of the limits the file exceeds, for a caller who can be given another; null for any other reason. */
  readonly limit: keyof Limits | null;

  constructor(message: string, { limit = null }: { readonly limit?: keyof Limits | null } = {}) {
    super(message);
    this.limit = limit;
  }
}

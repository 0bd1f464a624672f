/** The file is no session, or no longer readable as one. `message` is a sentence that says what was looked for. */
export class SessionUnreadable extends Error {
  readonly code = "SESSION_UNREADABLE";
  override readonly name = "SessionUnreadable";
}

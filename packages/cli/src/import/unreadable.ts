/** Whether an importer refused the bytes: they are no recorded session. */
export const isUnreadable = (error: unknown): error is Error =>
  error instanceof Error && "code" in error && error.code === "SESSION_UNREADABLE";

export { type FileGroup, groupFiles, isSessionPath } from "./group-files.js";
export { type ImportOptions, importSessions } from "./import-sessions.js";
export type { ImportedFile } from "./imported-file.js";
export { type InspectReport, inspectReport } from "./inspect-report.js";
export { redactSession } from "./redact/redact-session.js";
export { SessionUnreadable } from "./session-unreadable.js";
export { LIMITS, type Limits } from "./source/limits.js";
export type { SourceFile } from "./source/source-file.js";
export { type SessionDigest, summarize } from "./summarize.js";

import type { Outcome, Session, SessionFormat } from "@imprint/contracts";
import type { SessionCounts } from "./summarize.js";

/** What an import made of a file: the sessions, and totals over all of them. */
export interface ImportedFile {
  readonly format: SessionFormat;
  readonly format_version: string | null;
  /** Empty when `onSession` took them. */
  readonly sessions: readonly Session[];
  readonly session_count: number;
  /** Id of the only session, or what the ids of all of them begin with. */
  readonly file_id: string;
  /** The sessions' common outcome; `unknown` when they differ. */
  readonly outcome: Outcome;
  readonly counts: SessionCounts;
  readonly bad_lines: number;
  readonly dropped: readonly { readonly reason: string; readonly count: number }[];
  readonly redactions: readonly { readonly kind: string; readonly count: number }[];
  readonly warnings: readonly string[];
}

import type { Outcome, Session, SessionFormat } from "@imprint/contracts";

/** What an import made of one file: a file may hold many conversations. */
export interface Imported {
  readonly sessions: readonly Session[];
  readonly warnings: readonly string[];
}

/** Reads a recorded session of any agent. Rejects with an error of code SESSION_UNREADABLE when the file is none. */
export type Importer = (
  bytes: Uint8Array,
  options: {
    readonly format?: SessionFormat | undefined;
    /** What is known of the end of the session beside the file. */
    readonly outcome?: Outcome | undefined;
    readonly name?: string | undefined;
  },
) => Promise<Imported>;

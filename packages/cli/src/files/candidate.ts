import type { Outcome } from "@imprint/contracts";

/** What may be a session. */
export interface Candidate {
  readonly path: string;
  /** The files that make up the session, in order, where `path` is their folder. */
  readonly parts?: readonly string[];
  /** Its records, where it stands in a file with others. */
  readonly lines?: () => Iterable<string>;
  /** True when the user named this very file: then it must be a session. */
  readonly named: boolean;
  /** How it ended, where a file beside it says so. */
  readonly outcome?: Outcome;
  /** The folder that it was recorded in, where its place says so. */
  readonly folder?: string;
  /** Bytes of all its files. */
  readonly size: number;
  /** When one of its files was last written, in milliseconds since 1970. */
  readonly modified: number;
}

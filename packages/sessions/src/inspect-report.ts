import type { Outcome, Parent, SessionFormat } from "@imprint/contracts";
import type { ImportedFile } from "./imported-file.js";
import type { SessionCounts } from "./summarize.js";

/** What `imprint inspect FILE --json` prints: totals over the file. */
export interface InspectReport extends SessionCounts {
  readonly format: SessionFormat;
  readonly format_version: string | null;
  readonly session_id: string;
  /** Where the file is one session that names it. */
  readonly parent?: Parent;
  readonly outcome: Outcome;
  readonly bad_lines: number;
  readonly dropped: ImportedFile["dropped"];
  readonly redactions: ImportedFile["redactions"];
}

const parentOf = ({ sessions, session_count }: ImportedFile): Pick<InspectReport, "parent"> => {
  const parent = session_count === 1 ? sessions[0]?.parent : undefined;
  return parent === undefined ? {} : { parent };
};

export const inspectReport = (imported: ImportedFile): InspectReport => ({
  format: imported.format,
  format_version: imported.format_version,
  session_id: imported.file_id,
  ...parentOf(imported),
  outcome: imported.outcome,
  ...imported.counts,
  bad_lines: imported.bad_lines,
  dropped: imported.dropped,
  redactions: imported.redactions,
});

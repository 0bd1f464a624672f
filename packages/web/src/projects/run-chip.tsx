import type { ProjectRun } from "@imprint/contracts";
import { words } from "../text/numbers.js";
import { plain } from "../text/plain.js";
import { EVALUATION_TONES } from "../text/verdict.js";

/** What became of a run: its verdict, or how far it is. */
export function RunChip({ run: { status, verdict, sentence, error } }: { readonly run: ProjectRun }) {
  if (verdict === null)
    return (
      <span className="status" data-status={status} title={error === null ? undefined : plain(error.message)}>
        {status}
      </span>
    );
  return (
    <span className="chip" data-tone={EVALUATION_TONES[verdict]} title={sentence ?? undefined}>
      {words(verdict)}
    </span>
  );
}

import type { Paint } from "../output/paint.js";
import { table } from "../output/table.js";
import { count, shorten, taskOf } from "../output/text.js";
import type { ImportedFile } from "./import-files.js";
import { nextStep } from "./next-step.js";
import { refusalLines } from "./refusals.js";

/** Rows that a person reads. */
const LONGEST_TABLE = 50;

const sum = (amounts: readonly { readonly count: number }[]): number =>
  amounts.reduce((total, { count: amount }) => total + amount, 0);

function closing(files: readonly ImportedFile[]): string {
  const of = (status: ImportedFile["status"]): readonly ImportedFile[] => files.filter((file) => file.status === status);
  const sessions = (status: ImportedFile["status"]): number =>
    of(status).reduce((total, file) => total + file.sessions.length, 0);
  const parts = [
    [sessions("stored"), "stored"],
    [sessions("known"), "stored before"],
    [sessions("readable"), "would be stored"],
  ] as const;
  const said = parts.filter(([amount]) => amount > 0).map(([amount, what]) => `${count(amount, "session")} ${what}`);
  const skipped = of("skipped").length;
  const failed = of("failed").length;
  if (skipped > 0) said.push(`${count(skipped, "other file")} skipped`);
  if (failed > 0) said.push(`${count(failed, "file")} not imported`);
  return said.length === 0 ? "Nothing to import." : `${said.join(", ")}.`;
}

/** A row for each session, a line for each reason to refuse or skip files, the sum, and what to do next. */
export function importSummary(
  files: readonly ImportedFile[],
  { paint, verbose, name }: { readonly paint: Paint; readonly verbose: boolean; readonly name: string },
): string {
  const rows = files.flatMap(({ status, sessions }) =>
    sessions.map((session) => [
      session.session_id,
      session.format,
      session.outcome,
      String(session.assistant_turns),
      String(session.tool_calls),
      String(sum(session.redactions)),
      status,
      shorten(taskOf(session), 48),
    ]),
  );
  const hidden = Math.max(0, rows.length - LONGEST_TABLE);
  const more = hidden === 0 ? [] : [paint("dim", `and ${count(hidden, "session")} more; --json lists them all`)];
  const headings = ["SESSION", "FORMAT", "OUTCOME", "TURNS", "CALLS", "REDACTED", "STATUS", "TASK"];
  const lines = (status: ImportedFile["status"]): readonly string[] =>
    refusalLines(
      files.filter((file) => file.status === status),
      { verbose },
    );
  const refused = lines("failed").map((line) => `${paint("red", "✗")} ${line}`);
  const skipped = lines("skipped").map((line) => paint("dim", `· skipped ${line}`));
  const warnings = files.flatMap(({ path, warnings: sentences }) =>
    sentences.map((said) => `${paint("yellow", "!")} ${path}: ${shorten(said, 400)}`),
  );
  const next = nextStep(files, name);
  return [
    ...(rows.length > 0 ? [table(headings, rows.slice(0, LONGEST_TABLE), paint), ...more, ""] : []),
    ...refused,
    ...skipped,
    ...warnings,
    closing(files),
    ...(next.length > 0 ? ["", ...next] : []),
  ].join("\n");
}

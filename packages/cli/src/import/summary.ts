import { endingOf } from "@imprint/contracts";
import type { Paint } from "../output/paint.js";
import { table } from "../output/table.js";
import { count, shorten, taskOf } from "../output/text.js";
import type { ImportedFile, ImportedSession } from "./import-files.js";
import { nextStep } from "./next-step.js";
import { refusalLines } from "./refusals.js";

/** Rows that a person reads. */
const LONGEST_TABLE = 50;

const sum = (amounts: readonly { readonly count: number }[]): number =>
  amounts.reduce((total, { count: amount }) => total + amount, 0);

/** What the store takes for one session: a recording that grew is found in several files. */
const idOf = ({ session_id, format, task }: ImportedSession): string => JSON.stringify([session_id, format, task]);

const times = (amount: number): string => (amount === 1 ? "once" : amount === 2 ? "twice" : `${amount} times`);

/** Whether the store keeps what it has: it is told of the same again, or of an earlier recording. */
const keeps = ([, had]: readonly [unknown, ImportedSession], status: ImportedFile["status"], next: ImportedSession): boolean =>
  status === "known" || (status === "readable" && next.assistant_turns < had.assistant_turns);

/** Each session once, as it is stored in the end. */
function distinct(files: readonly ImportedFile[]): readonly (readonly [ImportedFile["status"], ImportedSession])[] {
  const rows = new Map<string, readonly [ImportedFile["status"], ImportedSession]>();
  for (const { status, sessions } of files)
    for (const session of sessions) {
      const had = rows.get(idOf(session));
      if (had === undefined || !keeps(had, status, session)) rows.set(idOf(session), [status, session]);
    }
  return [...rows.values()];
}

function closing(files: readonly ImportedFile[]): string {
  const of = (status: ImportedFile["status"]): readonly ImportedFile[] => files.filter((file) => file.status === status);
  const ids = (status: ImportedFile["status"]): readonly string[] => of(status).flatMap(({ sessions }) => sessions.map(idOf));
  const stored = new Set(ids("stored"));
  const known = new Set(ids("known").filter((id) => !stored.has(id)));
  const parts = [
    [stored.size, "stored"],
    [ids("stored").length - stored.size, "replaced"],
    [known.size, "stored before"],
    [new Set(ids("readable")).size, "would be stored"],
  ] as const;
  const said = parts
    .filter(([amount]) => amount > 0)
    .map(([amount, what]) => (what === "replaced" ? `replaced ${times(amount)}` : `${count(amount, "session")} ${what}`));
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
  const rows = distinct(files).map(([status, session]) => [
    session.session_id,
    session.format,
    endingOf(session),
    String(session.assistant_turns),
    String(session.tool_calls),
    String(sum(session.redactions)),
    status,
    shorten(taskOf(session), 48),
  ]);
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

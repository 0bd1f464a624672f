import type { ImportResult } from "@imprint/contracts";
import { hrefOf } from "../router/route.js";
import { count } from "../text/numbers.js";
import { sentenceOf } from "../ui/problem.js";
import { Tally } from "../ui/tally.js";

/** One dropped file and what became of it. */
export interface Import {
  readonly key: number;
  readonly name: string;
  readonly result: (ImportResult & { readonly created: boolean }) | null;
  readonly error: unknown;
}

function Outcome({ result }: { readonly result: NonNullable<Import["result"]> }) {
  const redactions = result.sessions.flatMap((session) => session.redactions);
  const kinds = [...new Set(redactions.map(({ kind }) => kind))];
  const sum = (kind: string): number =>
    redactions.filter((one) => one.kind === kind).reduce((total, { count: times }) => total + times, 0);
  return (
    <>
      <p>
        {result.created ? "Stored" : "Stored before"} as {result.format}:{" "}
        {result.sessions.slice(0, 20).map(({ session_id: id }, at) => (
          <span key={id}>
            {at > 0 && ", "}
            <a className="mono" href={hrefOf(["sessions", id])}>
              {id}
            </a>
          </span>
        ))}
        {result.sessions.length > 20 && ` and ${result.sessions.length - 20} more`}
        {result.bad_lines > 0 && `; ${count(result.bad_lines, "unreadable line")} left out`}
      </p>
      <h3>Redacted secrets</h3>
      <Tally entries={kinds.map((kind) => ({ name: kind, count: sum(kind) }))} none="No secrets were found." />
      {result.warnings.map((warning) => (
        <p key={warning} className="notice">
          {warning}
        </p>
      ))}
    </>
  );
}

export function Imports({ imports }: { readonly imports: readonly Import[] }) {
  return (
    <ul className="imports" aria-label="Imported files" aria-live="polite">
      {imports.map(({ key, name, result, error }) => (
        <li key={key} className="card">
          <h2 className="mono">{name}</h2>
          {result ? (
            <Outcome result={result} />
          ) : (
            <p className={error ? "problem" : "muted"}>{error ? sentenceOf(error) : "Reading…"}</p>
          )}
        </li>
      ))}
    </ul>
  );
}

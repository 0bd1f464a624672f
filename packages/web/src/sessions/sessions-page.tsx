import type { ImportResult, SessionSummary } from "@imprint/contracts";
import { type DragEvent, useId, useRef, useState } from "react";
import { api } from "../api.js";
import { useLoad } from "../load/use-load.js";
import { hrefOf } from "../router/route.js";
import { ago, count } from "../text/numbers.js";
import { plain } from "../text/plain.js";
import { Page } from "../ui/page.js";
import { Problem, sentenceOf } from "../ui/problem.js";
import { Table } from "../ui/table.js";
import { Tally } from "../ui/tally.js";

/** One dropped file and what became of it. */
interface Import {
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

function Imports({ imports }: { readonly imports: readonly Import[] }) {
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

/** Takes files by drag and drop, or by the file picker that its button opens. */
function DropZone({ onFiles }: { readonly onFiles: (files: readonly File[]) => void }) {
  const [isOver, setOver] = useState(false);
  const id = useId();
  const drag = (event: DragEvent, over: boolean): void => {
    event.preventDefault();
    setOver(over);
  };
  const drop = (event: DragEvent): void => {
    drag(event, false);
    onFiles([...event.dataTransfer.files]);
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: dropping is a pointer's way; the button inside does the same.
    <div
      className="drop"
      data-over={isOver}
      onDragEnter={(event) => drag(event, true)}
      onDragOver={(event) => drag(event, true)}
      onDragLeave={(event) => drag(event, false)}
      onDrop={drop}
    >
      <p>Drop recorded sessions here: the files as the agent wrote them, of any supported format.</p>
      <label className="button" htmlFor={id}>
        Choose files
      </label>
      <input
        id={id}
        className="hidden-input"
        type="file"
        multiple
        onChange={(event) => {
          onFiles([...(event.target.files ?? [])]);
          event.target.value = "";
        }}
      />
    </div>
  );
}

const SHOWN = 1000;

/** When its last message was said; where it does not say it, when it was stored. */
const recordedAt = ({ ended_at, started_at, created_at }: SessionSummary): string => ended_at ?? started_at ?? created_at;

/** Stored sessions, and the way to store more. */
export function SessionsPage() {
  const [imports, setImports] = useState<readonly Import[]>([]);
  const keys = useRef(0);
  const [search, setSearch] = useState("");
  const [repository, setRepository] = useState("");
  /** Every one that was seen in a list: a filter leaves the others to be chosen. */
  const [repositories, setRepositories] = useState<readonly string[]>([]);
  const { value, error, reload } = useLoad("sessions", async (signal) => {
    const only = repository === "" ? {} : { repository };
    const page = await api.sessions.list({ limit: SHOWN, search, ...only }, { signal });
    const found = page.sessions.flatMap((session) => session.repository ?? []);
    setRepositories((before) => [...new Set([...before, ...found])].sort());
    return page;
  });

  const take = async (files: readonly File[]): Promise<void> => {
    for (const file of files) {
      keys.current += 1;
      const key = keys.current;
      const settle = (outcome: Pick<Import, "result" | "error">): void =>
        setImports((before) => before.map((one) => (one.key === key ? { ...one, ...outcome } : one)));
      setImports((before) => [{ key, name: file.name, result: null, error: null }, ...before]);
      try {
        settle({ result: await api.sessions.create(file), error: null });
        reload();
      } catch (failure) {
        settle({ result: null, error: failure });
      }
    }
  };

  return (
    <Page title="Sessions">
      <DropZone onFiles={(files) => void take(files)} />
      <Imports imports={imports} />
      <div className="filters">
        <input
          type="search"
          className="search"
          aria-label="Search sessions"
          placeholder="Search: words of the id, repository, folder, branch, model, format, outcome or task"
          maxLength={256}
          value={search}
          onChange={(event) => {
            setSearch(event.target.value);
            // Not a new key: the sessions that are shown stay until the others are there.
            reload();
          }}
        />
        {repositories.length > 0 && (
          <select
            aria-label="Repository"
            value={repository}
            onChange={(event) => {
              setRepository(event.target.value);
              reload();
            }}
          >
            <option value="">All repositories</option>
            {repositories.map((name) => (
              <option key={name} value={name}>
                {plain(name)}
              </option>
            ))}
          </select>
        )}
      </div>
      <Problem error={error} />
      {value && value.sessions.length > 0 && (
        <Table
          label="Stored sessions"
          head={["Session", "Repository", "Model", "Format", "Outcome", "Turns", "Redacted", "Recorded"]}
        >
          {value.sessions.map((session) => (
            <tr key={session.session_id}>
              <td>
                <a className="mono" href={hrefOf(["sessions", session.session_id])}>
                  {session.session_id}
                </a>
                <div className="muted clip">{plain(session.task)}</div>
              </td>
              <td title={session.folder && plain(session.folder)}>
                {plain(session.repository ?? "")}
                <div className="muted">{plain(session.branch ?? "")}</div>
              </td>
              <td>
                {plain(session.model ?? "")} {session.own && <span className="chip">own words</span>}
              </td>
              <td className="nowrap">{session.format}</td>
              <td>
                <span className="chip" data-outcome={session.outcome}>
                  {session.outcome}
                </span>
              </td>
              <td className="number">{session.assistant_turns}</td>
              <td className="number">{session.redactions.reduce((sum, { count: times }) => sum + times, 0)}</td>
              <td className="muted nowrap">{ago(recordedAt(session), Date.now())}</td>
            </tr>
          ))}
        </Table>
      )}
      {value?.sessions.length === 0 && (
        <p className="empty">{search + repository === "" ? "No sessions yet." : "No session has these words."}</p>
      )}
      {value?.next && <p className="muted">The first {count(SHOWN, "session")} are shown; a search finds the others.</p>}
    </Page>
  );
}

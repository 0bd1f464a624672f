import { endingOf, type SessionSummary } from "@imprint/contracts";
import { useRef, useState } from "react";
import { api } from "../api.js";
import { useLoad } from "../load/use-load.js";
import { hrefOf } from "../router/route.js";
import { ago, count } from "../text/numbers.js";
import { plain } from "../text/plain.js";
import { Page } from "../ui/page.js";
import { Problem } from "../ui/problem.js";
import { Table } from "../ui/table.js";
import { DropZone } from "./drop-zone.js";
import { type Import, Imports } from "./imports.js";

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
                  {endingOf(session)}
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

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

/** Stored sessions, and the way to store more. */
export function SessionsPage() {
  const [imports, setImports] = useState<readonly Import[]>([]);
  const keys = useRef(0);
  const { value, error, reload } = useLoad("sessions", (signal) => api.sessions.list({ limit: SHOWN }, { signal }));

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
      <Problem error={error} />
      {value && value.sessions.length > 0 && (
        <Table label="Stored sessions" head={["Session", "Format", "Outcome", "Turns", "Redacted", "Stored"]}>
          {value.sessions.map((session) => (
            <tr key={session.session_id}>
              <td>
                <a className="mono" href={hrefOf(["sessions", session.session_id])}>
                  {session.session_id}
                </a>
                <div className="muted clip">{plain(session.task)}</div>
              </td>
              <td className="nowrap">{session.format}</td>
              <td>
                <span className="chip" data-outcome={session.outcome}>
                  {session.outcome}
                </span>
              </td>
              <td className="number">{session.assistant_turns}</td>
              <td className="number">{session.redactions.reduce((sum, { count: times }) => sum + times, 0)}</td>
              <td className="muted nowrap">{ago(session.created_at, Date.now())}</td>
            </tr>
          ))}
        </Table>
      )}
      {value?.sessions.length === 0 && <p className="empty">No sessions yet.</p>}
      {value?.next && <p className="muted">The first {count(SHOWN, "session")} are shown; the API lists all.</p>}
    </Page>
  );
}

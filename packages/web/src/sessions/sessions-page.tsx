import type { SessionQuery } from "@imprint/client";
import { endingOf, type Outcome, SESSION_FORMATS, type SessionSummary } from "@imprint/contracts";
import { type FormEvent, useRef, useState } from "react";
import { api } from "../api.js";
import { useAction } from "../load/use-action.js";
import { usePages } from "../load/use-pages.js";
import { hrefOf } from "../router/route.js";
import { goTo } from "../router/use-route.js";
import { ago, count } from "../text/numbers.js";
import { plain } from "../text/plain.js";
import { Commands } from "../ui/commands.js";
import { Confirmed } from "../ui/confirmed.js";
import { Choice, Search } from "../ui/filters.js";
import { Page } from "../ui/page.js";
import { Pager } from "../ui/pager.js";
import { Problem } from "../ui/problem.js";
import { Table } from "../ui/table.js";
import { DropZone } from "./drop-zone.js";
import { type Import, Imports } from "./imports.js";

/** When its last message was said; where it does not say it, when it was stored. */
const recordedAt = ({ ended_at, started_at, created_at }: SessionSummary): string => ended_at ?? started_at ?? created_at;

const OUTCOMES: readonly Outcome[] = ["success", "failure", "unknown"];
const TRAINED = [
  ["", "Trained on or not"],
  ["true", "Trained on"],
  ["false", "Not trained on"],
] as const;
const same = (values: readonly string[]) => values.map((value) => [value, value] as const);

/** What a list is asked for besides words. */
type Filter = Pick<SessionQuery, "repository" | "format" | "outcome" | "trained" | "since" | "until">;

const toggled = (ids: readonly string[], id: string): readonly string[] =>
  ids.includes(id) ? ids.filter((one) => one !== id) : [...ids, id];

/** What is done to all that are ticked, on whatever pages. */
function Ticked({ ids, onDone }: { readonly ids: readonly string[]; readonly onDone: () => void }) {
  const each = async (one: (id: string) => Promise<unknown>): Promise<void> => {
    for (const id of ids) await one(id);
    onDone();
  };
  const act = useAction(each);
  const found = useAction(async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const name = String(new FormData(event.currentTarget).get("project"));
    await api.projects.run(name, { session_ids: [...ids] });
    goTo(hrefOf(["projects", name]));
  });
  if (ids.length === 0) return null;
  const button = (text: string, one: (id: string) => Promise<unknown>) => (
    <button type="button" disabled={act.isBusy} onClick={() => void act.run(one)}>
      {text}
    </button>
  );
  return (
    <>
      <nav className="filters" aria-label="Chosen sessions">
        <a className="button primary" href={hrefOf(["train"], { session: ids.join(",") })}>
          Train on {count(ids.length, "session")}
        </a>
        {button("Mark as success", (id) => api.sessions.label(id, "success"))}
        {button("Mark as failure", (id) => api.sessions.label(id, "failure"))}
        <Confirmed
          label="Delete"
          question={`Delete ${count(ids.length, "session")}?`}
          confirm={`Delete ${count(ids.length, "session")} for good`}
          act={() => each((id) => api.sessions.delete(id))}
        >
          What was recorded goes for good, unless your archive keeps it. Adapters that were trained on it stay.
        </Confirmed>
      </nav>
      <form className="filters" onSubmit={(event) => void found.run(event)}>
        <input name="project" required aria-label="Name of a project" placeholder="Name of a project, such as shop" />
        <button type="submit" disabled={found.isBusy}>
          Make a project of them
        </button>
      </form>
      <Commands lines={[`imprint export-sessions ${ids.join(" ")} --format messages --out sessions.jsonl`]} />
      <Problem error={act.error ?? found.error} />
    </>
  );
}

/** Stored sessions, and the way to store more. */
export function SessionsPage() {
  const [imports, setImports] = useState<readonly Import[]>([]);
  const keys = useRef(0);
  const [search, setSearch] = useState("");
  const [filter, setFilter] = useState<Filter>({});
  /** Every one that was seen in a list: a filter leaves the others to be chosen. */
  const [repositories, setRepositories] = useState<readonly string[]>([]);
  const [ticked, setTicked] = useState<readonly string[]>([]);
  const { value, error, reload, filtering, older, newer } = usePages("sessions", async (cursor, signal) => {
    const page = await api.sessions.list({ ...cursor, search, ...filter }, { signal });
    const found = page.sessions.flatMap((session) => session.repository ?? []);
    setRepositories((before) => [...new Set([...before, ...found])].sort());
    return page;
  });
  const isAll = search === "" && Object.values(filter).every((value) => value === undefined);
  const by = (name: keyof Filter, label: string) => ({
    "aria-label": label,
    value: String(filter[name] ?? ""),
    onChange: filtering((text) => setFilter((before) => ({ ...before, [name]: text === "" ? undefined : text }))),
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
        <Search
          aria-label="Search sessions"
          hint="id, repository, folder, branch, model, format, outcome or task"
          value={search}
          onChange={filtering(setSearch)}
        />
        {repositories.length > 0 && (
          <Choice options={[["", "All repositories"], ...same(repositories)]} {...by("repository", "Repository")} />
        )}
        <Choice options={[["", "All agents"], ...same(SESSION_FORMATS)]} {...by("format", "Agent")} />
        <Choice options={[["", "All outcomes"], ...same(OUTCOMES)]} {...by("outcome", "Outcome")} />
        <Choice options={TRAINED} {...by("trained", "Trained")} />
        <label title="Days of UTC">
          Recorded since <input type="date" {...by("since", "Recorded since")} />
        </label>
        <label title="Days of UTC">
          until <input type="date" {...by("until", "Recorded until")} />
        </label>
      </div>
      <Problem error={error} />
      <Ticked
        ids={ticked}
        onDone={() => {
          setTicked([]);
          reload();
        }}
      />
      {value && value.sessions.length > 0 && (
        <Table
          label="Stored sessions"
          head={["Choose", "Session", "Repository", "Model", "Format", "Outcome", "Turns", "Redacted", "Recorded"]}
        >
          {value.sessions.map((session) => (
            <tr key={session.session_id}>
              <td>
                <input
                  type="checkbox"
                  aria-label={`Choose ${session.session_id}`}
                  checked={ticked.includes(session.session_id)}
                  onChange={() => setTicked(toggled(ticked, session.session_id))}
                />
              </td>
              <td>
                <div className="clip">{plain(session.task)}</div>
                <a className="mono" href={hrefOf(["sessions", session.session_id])}>
                  {session.session_id}
                </a>
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
      {value?.sessions.length === 0 && <p className="empty">{isAll ? "No sessions yet." : "No session is like this."}</p>}
      <Pager older={older} newer={newer} />
    </Page>
  );
}

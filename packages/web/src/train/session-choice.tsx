import { useState } from "react";
import { api } from "../api.js";
import { usePages } from "../load/use-pages.js";
import { hrefOf } from "../router/route.js";
import { plain } from "../text/plain.js";
import { Search } from "../ui/filters.js";
import { Pager } from "../ui/pager.js";
import { Problem } from "../ui/problem.js";

interface SessionChoiceProps {
  readonly chosen: readonly string[];
  /** Not offered. */
  readonly without?: ReadonlySet<string>;
  /** One at a time. */
  readonly isSingle: boolean;
  readonly problem: string | undefined;
  readonly onChange: (chosen: readonly string[]) => void;
}

/** The stored sessions, found by words; what is chosen stays chosen, and stands first. */
export function SessionChoice({ chosen, without, isSingle, problem, onChange }: SessionChoiceProps) {
  const [search, setSearch] = useState("");
  const { value, error, filtering, older, newer } = usePages("sessions", (cursor, signal) =>
    api.sessions.list({ ...cursor, search }, { signal }),
  );
  const sessions = (value?.sessions ?? []).filter(({ session_id }) => !without?.has(session_id));
  const elsewhere = chosen.filter((id) => !sessions.some(({ session_id }) => session_id === id));
  const toggle = (id: string): void => {
    if (isSingle) onChange([id]);
    else onChange(chosen.includes(id) ? chosen.filter((one) => one !== id) : [...chosen, id]);
  };
  return (
    <fieldset className="sessions" aria-describedby="sessions-problem">
      <legend>{isSingle ? "Session" : "Sessions"}</legend>
      <Problem error={error} />
      <Search
        aria-label="Search sessions"
        hint="task, repository, model, outcome or id"
        value={search}
        onKeyDown={(event) => {
          if (event.key === "Enter") event.preventDefault(); // the form around is not sent
        }}
        onChange={filtering(setSearch)}
      />
      {value !== null && search === "" && sessions.length === 0 && (
        <p>
          No sessions are stored: <a href={hrefOf(["sessions"])}>import one</a> first.
        </p>
      )}
      <div className="options">
        {elsewhere.map((id) => (
          <label key={id}>
            <input type={isSingle ? "radio" : "checkbox"} name="session" checked onChange={() => toggle(id)} />
            <span className="mono">{id}</span>
          </label>
        ))}
        {sessions.map(({ session_id: id, task, outcome, own, repository, assistant_turns: turns }) => (
          <label key={id}>
            <input
              type={isSingle ? "radio" : "checkbox"}
              name="session"
              checked={chosen.includes(id)}
              onChange={() => toggle(id)}
            />
            <span>
              {plain(task)}{" "}
              <span className="muted">
                {[id, own && "own words", repository && plain(repository), outcome, `${turns} turns`].filter(Boolean).join(" · ")}
              </span>
            </span>
          </label>
        ))}
      </div>
      <Pager older={older} newer={newer} />
      <p id="sessions-problem" className="problem">
        {problem}
      </p>
    </fieldset>
  );
}

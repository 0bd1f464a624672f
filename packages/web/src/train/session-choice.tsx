import type { SessionSummary } from "@imprint/contracts";
import { hrefOf } from "../router/route.js";
import { plain } from "../text/plain.js";

interface SessionChoiceProps {
  readonly sessions: readonly SessionSummary[];
  readonly chosen: readonly string[];
  /** One at a time. */
  readonly isSingle: boolean;
  readonly problem: string | undefined;
  readonly onChange: (chosen: readonly string[]) => void;
}

export function SessionChoice({ sessions, chosen, isSingle, problem, onChange }: SessionChoiceProps) {
  const toggle = (id: string): void => {
    if (isSingle) onChange([id]);
    else onChange(chosen.includes(id) ? chosen.filter((one) => one !== id) : [...chosen, id]);
  };
  return (
    <fieldset className="sessions" aria-describedby="sessions-problem">
      <legend>{isSingle ? "Session" : "Sessions"}</legend>
      {sessions.length === 0 && (
        <p>
          No sessions are stored: <a href={hrefOf(["sessions"])}>import one</a> first.
        </p>
      )}
      <div className="options">
        {sessions.map(({ session_id: id, task, outcome, own, repository, assistant_turns: turns }) => (
          <label key={id}>
            <input
              type={isSingle ? "radio" : "checkbox"}
              name="session"
              checked={chosen.includes(id)}
              onChange={() => toggle(id)}
            />
            <span>
              <span className="mono">{id}</span>{" "}
              <span className="muted">
                {[own && "own words", repository && plain(repository), outcome, `${turns} turns`, plain(task)]
                  .filter(Boolean)
                  .join(" · ")}
              </span>
            </span>
          </label>
        ))}
      </div>
      <p id="sessions-problem" className="problem">
        {problem}
      </p>
    </fieldset>
  );
}

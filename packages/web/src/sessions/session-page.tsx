import type { Outcome } from "@imprint/contracts";
import { useCallback } from "react";
import { api } from "../api.js";
import { useAction } from "../load/use-action.js";
import { useLoad } from "../load/use-load.js";
import { hrefOf } from "../router/route.js";
import { ago, words } from "../text/numbers.js";
import { plain } from "../text/plain.js";
import { Card } from "../ui/card.js";
import { Facts } from "../ui/facts.js";
import { Page, Remarks } from "../ui/page.js";
import { Problem } from "../ui/problem.js";
import { Tally } from "../ui/tally.js";
import { Conversation } from "./conversation.js";
import { Preview } from "./preview.js";

const OUTCOMES: readonly Outcome[] = ["success", "failure", "unknown"];

/** A stored session: its numbers, what was taken out of it, and what a training would learn. */
export function SessionPage({ sessionId }: { readonly sessionId: string }) {
  const { value: session, error, reload } = useLoad(sessionId, (signal) => api.sessions.get(sessionId, { signal }));
  const label = useAction(
    useCallback(
      async (outcome: Outcome) => {
        await api.sessions.label(sessionId, outcome);
        reload();
      },
      [sessionId, reload],
    ),
  );
  const actions = session && (
    <a className="button primary" href={hrefOf(["train"], { session: sessionId })}>
      Train on it
    </a>
  );
  return (
    <Page title={plain(session?.task ?? "") || sessionId} actions={actions}>
      <Problem error={error} />
      {session && (
        <>
          <p className="mono muted">{sessionId}</p>
          {session.own && (
            <Remarks
              remarks={[
                "These are an adapter's or base model's own words, of this service: projects and evaluations leave the session out unless it is named.",
              ]}
            />
          )}
          <Facts
            isWide
            facts={[
              ["Format", [session.format, session.format_version].filter(Boolean).join(" ")],
              ["From", session.parent && plain(`${session.parent.kinship} of ${session.parent.session_id}`)],
              ["Repository", session.repository && plain(session.repository)],
              ["Branch", session.branch && plain(session.branch)],
              ["Folder", session.folder && plain(session.folder)],
              [
                "Model",
                session.model && plain([session.model, session.provider && `(${session.provider})`].filter(Boolean).join(" ")),
              ],
              ["Recorded", session.ended_at && ago(session.ended_at, Date.now())],
              ["Stored", ago(session.created_at, Date.now())],
              ["User turns", session.user_turns],
              ["Agent turns", session.assistant_turns],
              ["Tool calls", session.tool_calls],
              ["Unreadable lines", session.bad_lines],
              ["SHA-256", <code key="sha">{session.sha256}</code>],
            ]}
          />
          <fieldset className="choice">
            <legend>How it ended</legend>
            {OUTCOMES.map((outcome) => (
              <label key={outcome} data-keys={`o ${outcome[0]}`}>
                <input
                  type="radio"
                  name="outcome"
                  checked={session.outcome === outcome}
                  disabled={label.isBusy}
                  onChange={() => void label.run(outcome)}
                />
                {outcome}
              </label>
            ))}
          </fieldset>
          <Problem error={label.error} />
          {session.judged && (
            <Card title={`By what it shows: ${session.judged.outcome}`}>
              <ul>
                {session.judged.evidence.map(({ kind, what }) => (
                  <li key={what}>
                    {words(kind)}: {plain(what)}
                  </li>
                ))}
              </ul>
            </Card>
          )}
          <div className="columns">
            <Card title="Redacted secrets">
              <Tally
                entries={session.redactions.map(({ kind, count }) => ({ name: kind, count }))}
                none="No secrets were found."
              />
            </Card>
            <Card title="Left out of the recording">
              <Tally
                entries={session.dropped.map(({ reason, count }) => ({ name: reason, count }))}
                none="Nothing was left out."
              />
            </Card>
          </div>
          <Conversation sessionId={sessionId} />
          <Preview
            id={`${sessionId} ${session.outcome}`}
            button="Preview"
            load={(options, window) =>
              api.sessions.preview(
                sessionId,
                { ...(session.outcome !== "success" && { include_unsuccessful: true }), ...(window ? { window } : {}) },
                options,
              )
            }
          />
        </>
      )}
    </Page>
  );
}

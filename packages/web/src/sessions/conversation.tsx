import type { Session } from "@imprint/contracts";
import { useState } from "react";
import { api } from "../api.js";
import { useLoad } from "../load/use-load.js";
import { count, words } from "../text/numbers.js";
import { plain } from "../text/plain.js";
import { Card } from "../ui/card.js";
import { OnDemand } from "../ui/on-demand.js";
import { Problem } from "../ui/problem.js";
import { type Run, readCall, runsOf } from "./changes.js";

type Step = Session["steps"][number];
type Call = NonNullable<Step["tool_calls"]>[number];
type Result = NonNullable<Step["observations"]>[number];

const SHOWN = 40;
/** Characters of a text that are shown at once. */
const LONG = 4_000;
const NAMES = { user: "Person", agent: "Agent", system: "Instructions" } as const;
const SECRET = /(<SECRET:[^>\s]{1,60}>)/;

/** What was taken out of a text stands out in it. */
const withSecrets = (text: string) =>
  text.split(SECRET).map((part, at) =>
    at % 2 === 1 ? (
      // biome-ignore lint/suspicious/noArrayIndexKey: parts have no other name, and never move.
      <span key={at} className="secret">
        {part}
      </span>
    ) : (
      part
    ),
  );

function Runs({ runs }: { readonly runs: readonly Run[] }) {
  const [isWhole, setWhole] = useState(false);
  let left = isWhole ? Number.POSITIVE_INFINITY : LONG;
  const shown = runs.flatMap(({ kind, text }) => {
    const part = plain(text.slice(0, Math.max(0, left)));
    left -= text.length;
    return part === "" ? [] : [{ kind, part }];
  });
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls has to be reachable with the keyboard (WCAG 2.1.1). */}
      <pre tabIndex={0}>
        {shown.map(({ kind, part }, at) => {
          const Tag = kind === "added" ? "ins" : kind === "removed" ? "del" : "span";
          // biome-ignore lint/suspicious/noArrayIndexKey: runs have no other name, and never move.
          return <Tag key={at}>{withSecrets(at + 1 < shown.length ? `${part}\n` : part)}</Tag>;
        })}
      </pre>
      {left < 0 && (
        <button type="button" onClick={() => setWhole(true)}>
          Show {count(-left, "more character")}
        </button>
      )}
    </>
  );
}

/** A call folded into a line, with what it gave and what came back. */
function Called({ call, result }: { readonly call: Call | null; readonly result: Result | undefined }) {
  const read = call && readCall(call.arguments);
  const summary = (
    <>
      <strong>{call ? plain(call.name) : "Result"}</strong>{" "}
      <span className="about">{plain(read?.about ?? result?.content.split("\n", 1)[0] ?? "")}</span>
      {result?.is_error && (
        <span className="chip" data-tone="bad">
          failed
        </span>
      )}
    </>
  );
  return (
    <OnDemand summary={summary}>
      {() => (
        <>
          {read && <Runs runs={read.runs} />}
          {result?.content && <Runs runs={runsOf(result.content)} />}
        </>
      )}
    </OnDemand>
  );
}

function Turn({ step, number }: { readonly step: Step; readonly number: number }) {
  const { source, text, tool_calls: calls = [], observations: results = [], context_only: reason } = step;
  const known = new Set(calls.map(({ id }) => id));
  const alone = results.filter(({ call_id }) => call_id === null || !known.has(call_id));
  const isLearned = source === "agent" && reason === undefined;
  return (
    <li className="turn" data-source={source} data-learned={isLearned}>
      <header>
        <strong>{NAMES[source]}</strong> <span className="muted">{number}</span>
        {source === "agent" && reason !== undefined && <span className="chip">not learned: {words(reason)}</span>}
      </header>
      {text.trim() !== "" &&
        (source === "system" ? (
          <OnDemand summary={count(text.length, "character")}>{() => <Runs runs={[{ kind: "same", text }]} />}</OnDemand>
        ) : (
          <Runs runs={runsOf(text)} />
        ))}
      {calls.map((call) => (
        <Called key={call.id} call={call} result={results.find(({ call_id }) => call_id === call.id)} />
      ))}
      {alone.map((result, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: results have no other name, and never move.
        <Called key={at} call={null} result={result} />
      ))}
    </li>
  );
}

const has = ({ text, tool_calls = [], observations = [] }: Step, searched: string): boolean =>
  [text, ...tool_calls.map((call) => `${call.name} ${call.arguments}`), ...observations.map(({ content }) => content)].some(
    (one) => one.toLowerCase().includes(searched),
  );

function Steps({ steps }: { readonly steps: readonly Step[] }) {
  const [searched, setSearched] = useState("");
  const [most, setMost] = useState(SHOWN);
  const words = searched.trim().toLowerCase();
  const found = steps.flatMap((step, at) => (words === "" || has(step, words) ? [{ step, at }] : []));
  return (
    <>
      <label className="search">
        Search in it
        <input type="search" value={searched} onChange={(event) => setSearched(event.currentTarget.value)} />
      </label>
      {words !== "" && <p role="status">{found.length === 0 ? "Nothing found." : `Found in ${count(found.length, "turn")}.`}</p>}
      <ol className="conversation">
        {found.slice(0, most).map(({ step, at }) => (
          <Turn key={at} step={step} number={at + 1} />
        ))}
      </ol>
      {found.length > most && (
        <button type="button" onClick={() => setMost(most + SHOWN)}>
          Show more of {count(found.length - most, "turn")}
        </button>
      )}
    </>
  );
}

/** The session as the conversation that it was; a green edge marks what trainings learn. */
export function Conversation({ sessionId }: { readonly sessionId: string }) {
  const { value, error, isLoading } = useLoad(sessionId, (signal) => api.sessions.content(sessionId, { signal }));
  return (
    <Card title="Conversation">
      {isLoading && <p role="status">Reading the session…</p>}
      <Problem error={error} />
      {value && <Steps steps={value.steps} />}
    </Card>
  );
}

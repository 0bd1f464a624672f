import type { PreviewReport } from "@imprint/contracts";
import { useState } from "react";
import { useLoad } from "../load/use-load.js";
import { count, duration, words } from "../text/numbers.js";
import { plain } from "../text/plain.js";
import { Card } from "../ui/card.js";
import { Facts } from "../ui/facts.js";
import { LeftOutAndChanged } from "../ui/left-out-and-changed.js";
import { Problem } from "../ui/problem.js";
import { Table } from "../ui/table.js";

interface PreviewProps {
  readonly id: string;
  readonly button: string;
  readonly load: (signal: AbortSignal) => Promise<PreviewReport>;
}

function Windows({ text, windows }: Pick<PreviewReport, "text" | "windows">) {
  const hidden = windows - text.length;
  return (
    <>
      <h3>
        The text, <mark>supervised</mark> where it is learned
      </h3>
      {text.map((window, at) => (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls has to be reachable with the keyboard (WCAG 2.1.1).
        // biome-ignore lint/suspicious/noArrayIndexKey: windows have no other name, and never move.
        <pre key={at} className="window" tabIndex={0}>
          {window.map((span, place) => {
            const shown = plain(span.text);
            // biome-ignore lint/suspicious/noArrayIndexKey: spans have no other name, and never move.
            return span.supervised ? <mark key={place}>{shown}</mark> : <span key={place}>{shown}</span>;
          })}
        </pre>
      ))}
      {hidden > 0 && <p className="muted">And {count(hidden, "window")} more, too long to show.</p>}
    </>
  );
}

function Turns({ turns, turns_left_out: hidden = 0 }: Pick<PreviewReport, "turns" | "turns_left_out">) {
  const more = hidden > 0 && <p className="muted">And {count(hidden, "turn")} more: preview their session alone.</p>;
  return (
    <>
      <Table label="Turns of the agent" head={["Turn", "Learned", "How it begins"]}>
        {turns.map((turn) => (
          <tr key={`${turn.session_id} ${turn.turn}`}>
            <td className="nowrap">{turn.turn}</td>
            <td className="nowrap">{turn.supervised ? "yes" : `no: ${words(turn.reason ?? "context")}`}</td>
            <td className="clip">{plain(turn.text)}</td>
          </tr>
        ))}
      </Table>
      {more}
    </>
  );
}

function Report({ report }: { readonly report: PreviewReport }) {
  return (
    <>
      <Facts
        facts={[
          ["Windows", report.windows],
          ["Tokens", `${report.tokens.toLocaleString("en")}, ${report.supervised_tokens.toLocaleString("en")} supervised`],
          ["Supervised turns", report.supervised_turns],
          ["Steps", `at most ${count(report.max_steps, "step")}`],
          ["Time", report.estimated_seconds === null ? null : `at most ${duration(report.estimated_seconds)}`],
          ["Estimate", report.estimate],
        ]}
      />
      <LeftOutAndChanged counts={report} />
      <h3>Turns of the agent</h3>
      <Turns {...report} />
      <Windows {...report} />
    </>
  );
}

function Loading({ id, load }: Pick<PreviewProps, "id" | "load">) {
  const { value, error, isLoading } = useLoad(id, load);
  return (
    <>
      {isLoading && <p role="status">The trainer reads the session…</p>}
      <Problem error={error} />
      {value && <Report report={value} />}
    </>
  );
}

/** What would be trained, by the code that trains. Asked for by a button: it loads the tokenizer. */
export function Preview({ id, button, load }: PreviewProps) {
  const [isOpen, setOpen] = useState(false);
  return (
    <Card
      title="What would be trained"
      actions={
        <button type="button" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          {isOpen ? "Hide" : button}
        </button>
      }
    >
      {isOpen ? <Loading id={id} load={load} /> : <p className="muted">Windows, masks and reasons, from the code that trains.</p>}
    </Card>
  );
}

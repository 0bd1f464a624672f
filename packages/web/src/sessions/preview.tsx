import type { PreviewReport } from "@imprint/contracts";
import { useCallback, useState } from "react";
import { useAction } from "../load/use-action.js";
import { useLoad } from "../load/use-load.js";
import { heldOutText } from "../text/held-out.js";
import { count, duration, words } from "../text/numbers.js";
import { plain } from "../text/plain.js";
import { Card } from "../ui/card.js";
import { Facts } from "../ui/facts.js";
import { LeftOutAndChanged } from "../ui/left-out-and-changed.js";
import { Memory, type Settings } from "../ui/memory.js";
import { OnDemand } from "../ui/on-demand.js";
import { Remarks } from "../ui/page.js";
import { Problem } from "../ui/problem.js";
import { Table } from "../ui/table.js";
import { countBySession } from "./session-counts.js";

type LoadWindows = (window: number) => Promise<Pick<PreviewReport, "text">>;

interface WindowsProps extends Pick<PreviewReport, "text" | "windows" | "text_left_out"> {
  /** Asks for the text from a window on, the first of them whole. */
  readonly load: LoadWindows;
}

/** The text of a preview's windows, what is learned of it marked; the rest is asked for by a button. */
function Windows({ text: first, windows, text_left_out: cut = 0, load }: WindowsProps) {
  const [{ text, isCut }, setShown] = useState({ text: first, isCut: cut > 0 });
  const whole = isCut ? 0 : text.length;
  const show = useCallback(async () => {
    const { text: more } = await load(whole + 1);
    setShown((before) => ({ text: [...before.text.slice(0, whole), ...more], isCut: false }));
  }, [load, whole]);
  const { run, isBusy, error } = useAction(show);
  const hidden = windows - whole;
  return (
    <>
      {text.map((window, at) => (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls has to be reachable with the keyboard (WCAG 2.1.1).
        // biome-ignore lint/suspicious/noArrayIndexKey: windows have no other name, and never move.
        <pre key={at} className="window" tabIndex={0}>
          {window.map((span, place) => {
            const written = plain(span.text);
            // biome-ignore lint/suspicious/noArrayIndexKey: spans have no other name, and never move.
            return span.supervised ? <mark key={place}>{written}</mark> : <span key={place}>{written}</span>;
          })}
        </pre>
      ))}
      {hidden > 0 && (
        <p className="muted">
          {isCut ? `This window has ${count(cut, "character")} more` : `${count(hidden, "more window")}`}.{" "}
          <button type="button" disabled={isBusy} onClick={run}>
            {isCut ? "Show all of it" : "Show more"}
          </button>
        </p>
      )}
      <Problem error={error} />
    </>
  );
}

/** With more sessions, counts come first, and turns and text on demand. */
const MANY = 3;

interface PreviewProps {
  readonly id: string;
  readonly button: string;
  /** `window`: from which on the text is shown, from the first where it is left out. */
  readonly load: (options: { readonly signal?: AbortSignal }, window?: number) => Promise<PreviewReport>;
}

interface TurnsProps extends Pick<PreviewReport, "turns" | "turns_left_out"> {
  readonly isOfSeveral: boolean;
}

function Turns({ turns, turns_left_out: hidden = 0, isOfSeveral }: TurnsProps) {
  return (
    <>
      <Table label="Turns of the agent" head={["Turn", "Learned", "How it begins"]}>
        {turns.map((turn) => (
          <tr key={`${turn.session_id} ${turn.turn}`}>
            <td className="nowrap">
              {isOfSeveral && <code>{turn.session_id}</code>} {turn.turn}
            </td>
            <td className="nowrap">{turn.supervised ? "yes" : `no: ${words(turn.reason ?? "context")}`}</td>
            <td className="clip">{plain(turn.text)}</td>
          </tr>
        ))}
      </Table>
      {hidden > 0 && <p className="muted">And {count(hidden, "turn")} more: preview their session alone.</p>}
    </>
  );
}

interface ReportProps {
  readonly report: PreviewReport;
  readonly onMore: LoadWindows;
  /** Applies the settings that a memory plan suggests. */
  readonly onApply?: ((settings: Settings) => void) | undefined;
}

function SessionsTable({ counts }: { readonly counts: ReturnType<typeof countBySession> }) {
  return (
    <Table label="Turns by session" head={["Session", "Turns learned", "Not learned"]}>
      {counts.map(({ id, learned, notLearned }) => (
        <tr key={id}>
          <td className="mono">{id}</td>
          <td className="number">{learned.toLocaleString("en")}</td>
          <td className="number">{notLearned.toLocaleString("en")}</td>
        </tr>
      ))}
    </Table>
  );
}

function Report({ report, onMore, onApply }: ReportProps) {
  const counts = countBySession(report.turns);
  const isMany = counts.length > MANY;
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
          ["Held out", heldOutText(report.held_out)],
        ]}
      />
      <Remarks remarks={report.remarks} />
      <Memory memory={report.memory} onApply={onApply} />
      <LeftOutAndChanged counts={report} />
      {isMany && <SessionsTable counts={counts} />}
      <OnDemand summary={`Turns of the agent (${report.turns.length.toLocaleString("en")})`} isOpen={!isMany}>
        {() => <Turns {...report} isOfSeveral={counts.length > 1} />}
      </OnDemand>
      <OnDemand summary="The text, marked where it is learned" isOpen={!isMany}>
        {() => <Windows {...report} load={onMore} />}
      </OnDemand>
    </>
  );
}

/** A preview as it is answered. */
export function LoadedPreview({ id, load, onApply }: Pick<PreviewProps, "id" | "load"> & Pick<ReportProps, "onApply">) {
  const { value, error, isLoading } = useLoad(id, (signal) => load({ signal }));
  return (
    <>
      {isLoading && <p role="status">The trainer reads the session…</p>}
      <Problem error={error} />
      {value && <Report report={value} onMore={(window) => load({}, window)} onApply={onApply} />}
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
      {isOpen ? (
        <LoadedPreview id={id} load={load} />
      ) : (
        <p className="muted">Windows, masks and reasons, from the code that trains.</p>
      )}
    </Card>
  );
}

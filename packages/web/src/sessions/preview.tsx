import type { PreviewReport } from "@imprint/contracts";
import { useState } from "react";
import { useLoad } from "../load/use-load.js";
import { heldOutText } from "../text/held-out.js";
import { count, duration, words } from "../text/numbers.js";
import { plain } from "../text/plain.js";
import { Card } from "../ui/card.js";
import { Facts } from "../ui/facts.js";
import { LeftOutAndChanged } from "../ui/left-out-and-changed.js";
import { Memory } from "../ui/memory.js";
import type { Settings } from "../ui/memory.jsx";
import { Remarks } from "../ui/page.jsx";
import { Problem } from "../ui/problem.js";
import { Table } from "../ui/table.js";
import { OnDemand } from "./on-demand.js";
import { countBySession } from "./session-counts.js";
import { type LoadWindows, Windows } from "./windows.js";

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

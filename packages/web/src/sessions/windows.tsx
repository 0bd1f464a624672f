import type { PreviewReport } from "@imprint/contracts";
import { useCallback, useState } from "react";
import { useAction } from "../load/use-action.js";
import { count } from "../text/numbers.js";
import { plain } from "../text/plain.js";
import { Problem } from "../ui/problem.js";

export type LoadWindows = (window: number) => Promise<Pick<PreviewReport, "text">>;

interface WindowsProps extends Pick<PreviewReport, "text" | "windows" | "text_left_out"> {
  /** Asks for the text from a window on, the first of them whole. */
  readonly load: LoadWindows;
}

/** The text of a preview's windows, what is learned of it marked; the rest is asked for by a button. */
export function Windows({ text: first, windows, text_left_out: cut = 0, load }: WindowsProps) {
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

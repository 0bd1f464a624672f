import { SessionUnreadable } from "../session-unreadable.js";
import type { Limits } from "./limits.js";

/** Characters kept of each end of a long output while all outputs together hold less than so many times the limit. */
const ENDS: readonly { readonly upTo: number; readonly kept: number }[] = [
  { upTo: 1.5, kept: 1000 },
  { upTo: 2, kept: 100 },
];
/** An output that the note of its length would not make shorter. */
const SHORT = 60;

/** Counts text that an import holds in memory, and says when outputs must be shortened or the file is too much. */
export interface TextBudget {
  /** Counts what people and the model said, which is never shortened. */
  hold(length: number): void;
  /** A tool's output as it is, or its two ends with a marker between them once outputs are too many. */
  fit(text: string): string;
  /** Says how much is still held after sessions were handed over. */
  settle(length: number): void;
  shortened(): number;
}

/** A copy of a part, because a slice would keep the whole string alive. */
const copyOf = (text: string): string => Buffer.from(text, "utf8").toString("utf8");

function twoEnds(text: string, kept: number): string {
  const cut = `[${text.length - 2 * kept} characters left out]`;
  return kept === 0 ? cut : copyOf(`${text.slice(0, kept)}\n${cut}\n${text.slice(-kept)}`);
}

export function textBudget(name: string, limits: Limits): TextBudget {
  let held = 0;
  let outputs = 0;
  let count = 0;
  const shorten = (text: string): string => {
    const kept = ENDS.find(({ upTo }) => outputs < upTo * limits.outputs)?.kept ?? 0;
    if (text.length <= Math.max(SHORT, 3 * kept)) return text;
    count++;
    return twoEnds(text, kept);
  };
  return {
    hold: (length) => {
      held += length;
      if (held > limits.text)
        throw new SessionUnreadable(
          `What people and the model say in ${name} is more than one import keeps (${limits.text} characters); split it.`,
        );
    },
    fit: (text) => {
      const fitting = outputs + text.length <= limits.outputs ? text : shorten(text);
      outputs += fitting.length;
      return fitting;
    },
    settle: (length) => {
      held = length;
      outputs = 0;
    },
    shortened: () => count,
  };
}

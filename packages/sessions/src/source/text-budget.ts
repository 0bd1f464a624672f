import { SessionUnreadable } from "../session-unreadable.js";
import type { Limits } from "./limits.js";

const KEPT_EACH_END = 1000;

/** Counts the text that an import holds in memory, and says when outputs must be shortened or the file is too much. */
export interface TextBudget {
  /** Counts text that is held as it is. */
  hold(length: number): void;
  /** A tool's output as it is, or its two ends with a marker between them once outputs are too many. */
  fit(text: string): string;
  /** Says how much is still held after sessions were handed over. */
  settle(length: number): void;
  shortened(): number;
}

/** A copy of a part, because a slice would keep the whole string alive. */
const copyOf = (text: string): string => Buffer.from(text, "utf8").toString("utf8");

export function textBudget(name: string, limits: Limits): TextBudget {
  let held = 0;
  let count = 0;
  const hold = (length: number): void => {
    held += length;
    if (held > limits.text)
      throw new SessionUnreadable(`${name} holds more text than one import keeps (${limits.text} characters); split it.`);
  };
  return {
    hold,
    fit: (text) => {
      if (held + text.length <= limits.outputs || text.length <= 3 * KEPT_EACH_END) {
        hold(text.length);
        return text;
      }
      const cut = text.length - 2 * KEPT_EACH_END;
      hold(2 * KEPT_EACH_END);
      count++;
      return copyOf(`${text.slice(0, KEPT_EACH_END)}\n[${cut} characters left out]\n${text.slice(-KEPT_EACH_END)}`);
    },
    settle: (length) => {
      held = length;
    },
    shortened: () => count,
  };
}

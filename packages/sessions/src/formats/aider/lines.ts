/** What a line of a chat history is. */
export type HistoryLine =
  | { readonly kind: "start"; readonly startedAt: string }
  | { readonly kind: "user" | "answer"; readonly text: string }
  /** Output of many lines has `> ` before the first only. `ends` where the line looks like the last of its piece. */
  | { readonly kind: "console"; readonly text: string; readonly ends: boolean };

export interface Before {
  /** The line before was console output: the last of its piece perhaps, or one that more must follow. */
  readonly console: "open" | "ended" | null;
  /** That output has more lines than its first. */
  readonly isLong: boolean;
  /** An answer has begun, so that `> ` may be a quotation in it. */
  readonly inAnswer: boolean;
}

const START = /^# aider chat started at (.+)$/;
const USER = /^####(?: (.*)|\s*)$/;
/** aider ends what it writes itself in two blanks: every line of a request, and each piece of console output. */
const ENDS = / {2}$/;

const consoleLine = (text: string): HistoryLine => ({
  kind: "console",
  text: text.replace(/^> ?/, "").replace(ENDS, ""),
  ends: ENDS.test(text) || text === ">",
});

export function historyLine(raw: string, { console, isLong, inAnswer }: Before): HistoryLine {
  const line = raw.replace(/\r$/, "");
  const start = START.exec(line);
  if (start !== null) return { kind: "start", startedAt: (start[1] ?? "").trim() };
  const user = USER.exec(line);
  // In an answer a line without the two blanks is a heading.
  if (user !== null && (ENDS.test(line) || !inAnswer)) return { kind: "user", text: (user[1] ?? "").replace(ENDS, "") };
  const goesOn = console === "open" || (console === "ended" && isLong && line.trim() !== "");
  const isConsole = goesOn || line === ">" || (line.startsWith("> ") && (ENDS.test(line) || !inAnswer));
  return isConsole ? consoleLine(line) : { kind: "answer", text: line };
}

/** Whether a line can only stand in a chat history. */
export const isHistoryLine = (line: string): boolean => START.test(line.replace(/\r$/, ""));

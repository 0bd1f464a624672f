import { DROPPED } from "../../dropped.js";
import type { Transcript } from "../../transcript.js";
import type { LogLine, ResponseMarks } from "./line.js";

/** Ids that a redactor wrote name no response. */
const REDACTED = /redacted|removed|masked|^\W*$/i;

interface Open {
  readonly key: string;
  readonly marks: ResponseMarks;
  /** How many results had come before its latest line. */
  readonly results: number;
}

/** Tells which lines are of one response of the model. */
export interface ResponseKeys {
  keyOf(line: LogLine): string | undefined;
  /** A tool's result was written. What goes on with the response of `within`, in which it was, is an answer of its own. */
  result(within?: LogLine): void;
}

/** What a line of an answer says and calls. What a tool of the provider told the model in the midst of it is context of what comes then. */
export function addAnswer(talk: Transcript, line: LogLine, keys: ResponseKeys, timestamp: unknown): void {
  const { text, reasoning, calls, results } = line;
  talk.answer({ text: text ?? "", reasoning, calls, timestamp }, keys.keyOf(line));
  for (const { content } of results) talk.note(content);
  if (results.length > 0) keys.result(line);
  talk.dropped.add(DROPPED.providerCall, results.length);
}

const agree = (one: string, other: string): boolean => one === "" || other === "" || one === other;

/** Whether a line goes on with the response of an earlier one, whatever stands between them. */
const isContinued = (before: ResponseMarks, marks: ResponseMarks): boolean =>
  before.id === marks.id &&
  agree(before.request, marks.request) &&
  !before.isEnd &&
  !REDACTED.test(marks.id) &&
  before.usage === marks.usage;

/**
 * Lines with what was typed while the model was still writing behind all lines of that response: it got the words with the
 * next request.
 */
export function behindResponses(lines: readonly LogLine[]): readonly LogLine[] {
  if (lines.every(({ queued }) => queued === null)) return lines;
  const ahead: (ResponseMarks | null)[] = [];
  let next: ResponseMarks | null = null;
  for (const [at, { kind, response }] of [...lines.entries()].reverse()) {
    ahead[at] = next;
    if (kind === "assistant") next = response;
  }
  const ordered: LogLine[] = [];
  const held: LogLine[] = [];
  let before: ResponseMarks | null = null;
  for (const [at, line] of lines.entries()) {
    if (line.kind === "assistant") before = line.response;
    const after = ahead[at] ?? null;
    const isInside = before !== null && after !== null && isContinued(before, after);
    if (isInside && line.queued !== null) held.push(line);
    else ordered.push(line);
    if (!isInside) ordered.push(...held.splice(0));
  }
  return [...ordered, ...held];
}

/**
 * Lines of one response share its id. Results of its first calls can stand between them, since tools begin while the model
 * still writes; but where ids were redacted so do the answers to those results, which all else tells apart.
 */
export function responseKeys(): ResponseKeys {
  const open = new Map<string, Open>();
  let results = 0;
  let made = 0;
  const goesOn = ({ marks: before, results: heard }: Open, marks: ResponseMarks): boolean =>
    heard === results ? agree(before.request, marks.request) : isContinued(before, marks);
  return {
    keyOf: ({ response: marks }) => {
      if (marks === null) return undefined;
      const known = open.get(marks.id);
      const key = known !== undefined && goesOn(known, marks) ? known.key : `response-${made++}`;
      open.set(marks.id, { key, marks, results });
      return key;
    },
    result: (within) => {
      results++;
      open.delete(within?.response?.id ?? "");
    },
  };
}

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
  /** A tool's result was written. */
  result(): void;
}

const agree = (one: string, other: string): boolean => one === "" || other === "" || one === other;

/**
 * Lines of one response share its id. Results of its first calls can stand between them, since tools begin while the model
 * still writes; but where ids were redacted so do the answers to those results, which all else tells apart.
 */
export function responseKeys(): ResponseKeys {
  const open = new Map<string, Open>();
  let results = 0;
  let made = 0;
  const goesOn = ({ marks: before, results: heard }: Open, marks: ResponseMarks): boolean =>
    agree(before.request, marks.request) &&
    (heard === results || (!before.isEnd && !REDACTED.test(marks.id) && before.usage === marks.usage));
  return {
    keyOf: ({ response: marks }) => {
      if (marks === null) return undefined;
      const known = open.get(marks.id);
      const key = known !== undefined && goesOn(known, marks) ? known.key : `response-${made++}`;
      open.set(marks.id, { key, marks, results });
      return key;
    },
    result: () => {
      results++;
    },
  };
}

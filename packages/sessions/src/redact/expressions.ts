type Range = readonly [start: number, end: number];

/** The source of an expression that matches a text as it is. */
export const escaped = (text: string): string => text.replace(/[.*+?^${}()|[\]\\/-]/g, "\\$&");

/** Where the group `secret` of a match stands; the expression has the flag `d`. */
export const secretOf = (match: RegExpExecArray | null): Range | undefined => match?.indices?.groups?.secret;

/** Where the group `secret` stands of what an expression with the flags `d` and `y` matches at a place. */
export function secretAt(pattern: RegExp, text: string, at: number): Range | undefined {
  pattern.lastIndex = at;
  return secretOf(pattern.exec(text));
}

/** What tools put before a line: numbers of reader tools, grep's file and number, times and names of logs. */
const MARKS = [
  "(?:[\\w./@-]{1,200}[:-])?\\d{1,7}(?:\\t|→|[:-]| {0,4}[|│]| {1,4}(?=\\S))[ \\t]*",
  "[\\w./@-]{1,200}:(?=[ \\t])[ \\t]*",
  "\\d{4}-\\d\\d-\\d\\d[T ][\\d:.,]{5,20}(?:Z|[+-]\\d\\d:?\\d\\d)?[ \\t]+",
  "\\[[\\d:., TZ-]{5,35}\\][ \\t]+",
  "[\\w.-]{1,60} {1,24}\\| ",
  "#\\d{1,3} (?:\\d+\\.\\d+ )?",
];

/** What a reader tool, grep, a log, a diff or a quotation puts before a line, also one in the other. */
export const GUTTER = `[ \\t]*(?:${MARKS.join("|")}){0,3}(?:[>+-] ?)*[ \\t]*`;

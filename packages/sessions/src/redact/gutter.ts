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

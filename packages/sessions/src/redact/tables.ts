import type { Finder, Hit } from "./hit.js";
import { hitKind, type NameKind, nameKind, visitNames } from "./names.js";
import { isSecret } from "./values.js";

const SEPARATORS = [",", "\t", ";", "|", "│"] as const;
const IN_COLUMN = { isQuoted: true, isSetting: true };
const MOST_ROWS = 500;
const LONGEST_HEADER = 400;
/** The line under a header that holds no data. */
const RULE = /^[\s|+│┼├┤:-]*-[\s|+│┼├┤:-]*$/;
/** What a reader tool puts before the lines of a table. */
const GUTTER = /^\s*\d+(?:\t|→|: ?| ?[|│])\s?/;

interface Cell {
  readonly start: number;
  readonly said: string;
}

interface Header {
  readonly separator: string;
  readonly width: number;
  readonly hasGutter: boolean;
  /** Which columns hold secrets, and of which kind. */
  readonly kinds: ReadonlyMap<number, NameKind>;
}

const bare = (cell: string): string => cell.replace(/^[\s"'`*]+|[\s"'`*]+$/g, "");

function cellsOf(line: string, offset: number, separator: string): readonly Cell[] {
  let start = offset;
  return line.split(separator).map((text) => {
    const said = bare(text);
    const cell = { start: start + text.indexOf(said), said };
    start += text.length + separator.length;
    return cell;
  });
}

export const columnKind = (name: string): NameKind | null =>
  /^[\w .-]{2,40}$/.test(name) ? nameKind(name.replaceAll(" ", "_")) : null;

function headerOf(whole: string): Header | null {
  const gutter = GUTTER.exec(whole)?.[0].length ?? 0;
  const line = whole.slice(gutter);
  for (const separator of SEPARATORS) {
    if (!line.includes(separator)) continue;
    const cells = cellsOf(line, 0, separator);
    const kinds = new Map(
      cells.flatMap(({ said }, index) => {
        const kind = columnKind(said);
        return kind === null ? [] : [[index, kind] as const];
      }),
    );
    if (kinds.size > 0) return { separator, width: cells.length, hasGutter: gutter > 0, kinds };
  }
  return null;
}

/** The secrets of the rows that begin at `from`, and where the table ends. */
function rowsFrom(text: string, from: number, { separator, width, hasGutter, kinds }: Header, hits: Hit[]): number {
  let at = from;
  for (let rows = 0; rows < MOST_ROWS && at < text.length; rows++) {
    const stop = text.indexOf("\n", at);
    const whole = text.slice(at, stop < 0 ? text.length : stop);
    const gutter = hasGutter ? (GUTTER.exec(whole)?.[0].length ?? 0) : 0;
    const cells = cellsOf(whole.slice(gutter), at + gutter, separator);
    if (!RULE.test(whole.slice(gutter))) {
      if (cells.length !== width) return at;
      for (const [index, kind] of kinds) {
        const { start, said } = cells[index] ?? { start: 0, said: "" };
        if (isSecret(said, kind, IN_COLUMN)) hits.push({ start, end: start + said.length, kind: hitKind(kind) });
      }
    }
    at += whole.length + 1;
  }
  return at;
}

/** Values in the columns of tables, CSV and query results whose header calls them secrets. */
export const findColumns: Finder = (scan) => {
  const { text } = scan;
  const hits: Hit[] = [];
  visitNames(scan, (at) => {
    const start = text.lastIndexOf("\n", at) + 1;
    const stop = text.indexOf("\n", at);
    if (stop < 0) return text.length;
    const header = stop - start > LONGEST_HEADER ? null : headerOf(text.slice(start, stop));
    return header === null ? stop : rowsFrom(text, stop + 1, header, hits);
  });
  return hits;
};

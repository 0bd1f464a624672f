import type { Finder, Hit } from "./hit.js";
import { nameKind } from "./names.js";
import { isSecret } from "./values.js";

/** What may separate columns, by the lines of data that follow a header. */
const SEPARATORS = [",", "\t", ";", "|", "│"] as const;
const IN_COLUMN = { isQuoted: true, isSetting: true };
const MOST_ROWS = 500;
const LONGEST_HEADER = 400;
/** The line under a header that holds no data. */
const RULE = /^[\s|+│┼├┤:-]*-[\s|+│┼├┤:-]*$/;
const MAY_BE_HEADER = /(?:^|\n)[^\n]{0,400}?(?:pass|secret|token|key)[^\n]{0,200}\n/i;

const bare = (cell: string): string => cell.replace(/^[\s"'`*]+|[\s"'`*]+$/g, "");
/** Line numbers and bars before a table's first column. */
const GUTTER = /^\s*\d+(?:\t|→|: ?| ?[|│])\s?/;

interface Cell {
  readonly start: number;
  readonly said: string;
}

function cellsOf(line: string, offset: number, separator: string): readonly Cell[] {
  let start = offset;
  return line.split(separator).map((text) => {
    const said = bare(text);
    const cell = { start: start + text.indexOf(said), said };
    start += text.length + separator.length;
    return cell;
  });
}

/** Values in the columns of tables, CSV and query results whose header calls them secrets. */
export const findColumns: Finder = ({ text }) => {
  if (!MAY_BE_HEADER.test(text)) return [];
  const hits: Hit[] = [];
  let columns: { readonly separator: string; readonly count: number; readonly kinds: ReadonlyMap<number, NonNullable<ReturnType<typeof nameKind>>> } | undefined;
  let rows = 0;
  let offset = 0;
  let isNumbered = false;
  for (const whole of text.split("\n")) {
    const hasNumber: RegExpExecArray | null = GUTTER.exec(whole);
    const gutter: number = columns === undefined || isNumbered ? (hasNumber?.[0].length ?? 0) : 0;
    const line = whole.slice(gutter);
    const at = offset + gutter;
    offset += whole.length + 1;
    if (columns !== undefined && rows < MOST_ROWS) {
      const cells = cellsOf(line, at, columns.separator);
      if (RULE.test(line)) continue;
      if (cells.length === columns.count) {
        rows++;
        for (const [index, kind] of columns.kinds) {
          const cell = cells[index];
          if (cell !== undefined && isSecret(cell.said, kind, IN_COLUMN)) hits.push({ start: cell.start, end: cell.start + cell.said.length, kind: kind === "password" ? "password" : "secret" });
        }
        continue;
      }
    }
    columns = undefined;
    rows = 0;
    if (line.length > LONGEST_HEADER) continue;
    for (const separator of SEPARATORS) {
      const cells = cellsOf(line, at, separator);
      if (cells.length < 2) continue;
      const kinds = new Map(cells.flatMap(({ said }, index) => {
        const kind = /^[\w .-]{2,40}$/.test(said) ? nameKind(said.replaceAll(" ", "_")) : null;
        return kind === null ? [] : [[index, kind] as const];
      }));
      if (kinds.size > 0) isNumbered = gutter > 0;
      if (kinds.size > 0) columns = { separator, count: cells.length, kinds };
    }
  }
  return hits;
};

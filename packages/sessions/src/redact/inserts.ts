import type { Finder, Hit } from "./hit.js";
import { hitKind, visitNames } from "./names.js";
import { columnKind } from "./tables.js";
import { isSecret } from "./values.js";

const IN_QUOTES = { isQuoted: true, isSetting: true };
const INSERT = /insert\s+into\s+[\w."`[\]]{1,120}\s*\(([^()]{1,600})\)\s*values\s*/iy;
const WORD = /insert\s+into/i;
const ROW = /\s*,?\s*\(((?:'(?:[^'\\]|''|\\.)*'|[^()'])*)\)/y;
const CELL = /\s*(?:'((?:[^'\\]|''|\\.)*)'|[^,']*)\s*(?:,|$)/g;
const LONGEST_HEAD = 200;
const MOST_ROWS = 500;

/** Values of columns that `INSERT INTO … (…) VALUES (…), (…)` calls secrets. */
export const findInserts: Finder = (scan) => {
  const { text } = scan;
  const hits: Hit[] = [];
  visitNames(scan, (at) => {
    const from = Math.max(0, at - LONGEST_HEAD);
    const begin = WORD.exec(text.slice(from, at));
    if (begin === null) return at;
    INSERT.lastIndex = from + begin.index;
    const head = INSERT.exec(text);
    if (head === null) return at;
    const kinds = (head[1] ?? "").split(",").map((name) => columnKind(name.replaceAll(/[\s"`[\]]/g, "")));
    ROW.lastIndex = INSERT.lastIndex;
    for (let rows = 0; rows < MOST_ROWS; rows++) {
      const row = ROW.exec(text);
      if (row === null) break;
      const start = row.index + row[0].length - 1 - (row[1] ?? "").length;
      for (const [column, cell] of [...(row[1] ?? "").matchAll(CELL)].entries()) {
        const [kind, said] = [kinds[column] ?? null, cell[1]];
        if (kind === null || said === undefined || !isSecret(said, kind, IN_QUOTES)) continue;
        const first = start + cell.index + cell[0].indexOf("'") + 1;
        hits.push({ start: first, end: first + said.length, kind: hitKind(kind) });
      }
    }
    return INSERT.lastIndex;
  });
  return hits;
};

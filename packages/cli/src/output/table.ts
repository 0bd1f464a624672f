import type { Paint } from "./paint.js";
import { plain } from "./text.js";

/** Columns aligned to the left, a bold heading, two blanks between. */
export function table(headings: readonly string[], rows: readonly (readonly string[])[], paint: Paint): string {
  const cells = rows.map((row) => row.map(plain));
  const widths = headings.map((heading, column) => Math.max(heading.length, ...cells.map((row) => row[column]?.length ?? 0)));
  const line = (row: readonly string[]): string => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join("  ");
  return [paint("bold", line(headings).trimEnd()), ...cells.map((row) => line(row).trimEnd())].join("\n");
}

/** `name  value` lines, names dimmed and aligned. */
export function fields(entries: readonly (readonly [string, string])[], paint: Paint): string {
  const width = Math.max(...entries.map(([name]) => name.length));
  return entries.map(([name, value]) => `${paint("dim", name.padEnd(width))}  ${value}`).join("\n");
}

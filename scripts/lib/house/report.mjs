import { boundsOf } from "./bounds.mjs";

export const overBound = ({ figure, bound }) => bound !== undefined && figure > bound;

const cell = (value) => (value === undefined ? "" : value.toLocaleString("en-US"));

/** A table of figures, and below it what explains them. */
export function report({ figures, lists }) {
  const rows = boundsOf(figures).map((row) => [
    row.name,
    cell(row.figure),
    cell(row.bound),
    cell(row.goal),
    overBound(row) ? "above its bound" : "",
  ]);
  const table = [["", "figure", "bound", "goal", ""], ...rows].map(([name, figure, bound, goal, note]) =>
    `${name.padEnd(38)}${figure.padStart(9)}${bound.padStart(9)}${goal.padStart(9)}  ${note}`.trimEnd(),
  );
  const notes = Object.entries(lists).flatMap(([name, entries]) =>
    entries.length === 0 ? [] : [`${name}:`, ...entries.map((entry) => `    ${entry}`)],
  );
  return [...table, "", ...notes].join("\n");
}

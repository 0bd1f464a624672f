import { createRequire } from "node:module";
import path from "node:path";
import { pathToFileURL } from "node:url";

/** Loads a package that is installed in a folder outside the project: no candidate is a dependency. */
export const load = (folder, name) => import(pathToFileURL(createRequire(path.resolve(folder, "index.js")).resolve(name)).href);

/** The text without the ranges [start, end), which may overlap. */
export function without(text, ranges) {
  const sorted = ranges.toSorted(([a], [b]) => a - b);
  let result = "";
  let at = 0;
  for (const [start, end] of sorted) {
    if (start > at) result += text.slice(at, start);
    if (end > at) result += start >= at ? "<SECRET>" : "";
    at = Math.max(at, end);
  }
  return result + text.slice(at);
}

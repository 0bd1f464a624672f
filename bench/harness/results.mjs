import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";

/** Keeps a result as bench/results/<name>-<date>-<commit>.json and gives that path, relative to the root. */
export function keep({ root, result }) {
  const file = `bench/results/${result.benchmark}-${result.date.slice(0, 10)}-${result.commit}${result.dirty ? "-dirty" : ""}.json`;
  mkdirSync(path.join(root, "bench/results"), { recursive: true });
  writeFileSync(path.join(root, file), `${JSON.stringify(result, null, 1)}\n`);
  return file;
}

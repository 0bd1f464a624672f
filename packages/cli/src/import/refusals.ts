import path from "node:path";
import { count } from "../output/text.js";
import type { ImportedFile } from "./import-files.js";

/** More files of one reason than this are counted, not named. */
const MOST_NAMED = 3;

type Refused = Pick<ImportedFile, "path" | "reason"> & Partial<Pick<ImportedFile, "status">>;

/** Why a file was not imported, without the file's name ahead. */
export function fullReason({ path: file, reason = "" }: Refused): string {
  const name = [path.basename(file), "The file"].find((one) => reason.startsWith(`${one} `)) ?? "";
  return reason
    .slice(name.length)
    .trim()
    .replace(/^is (?=(?:an?|no) )/, "");
}

/** Its first sentence, or of a file that was named what to bring too: files that were refused for the same reason say the same. */
export const shortReason = (file: Refused): string =>
  fullReason(file).split(file.status === "failed" ? /\.(?: Looked for |$)/ : /\.(?:\s|$)/)[0] ?? "";

function byReason(files: readonly ImportedFile[]): ReadonlyMap<string, readonly string[]> {
  const groups = new Map<string, string[]>();
  for (const file of files) {
    const reason = shortReason(file);
    groups.set(reason, [...(groups.get(reason) ?? []), file.path]);
  }
  return groups;
}

/** A line for each reason, with the files that it holds for; with `verbose` a line for each file, with all that is known. */
export function refusalLines(files: readonly ImportedFile[], { verbose }: { readonly verbose: boolean }): readonly string[] {
  if (verbose) return files.map((file) => `${file.path}: ${fullReason(file)}`);
  return [...byReason(files)].map(([reason, paths]) => {
    if (paths.length === 1) return `${paths[0]}: ${reason}`;
    const named = paths.length <= MOST_NAMED ? paths : paths.slice(0, MOST_NAMED - 1);
    const hidden = paths.length - named.length;
    const more = hidden === 0 ? "" : `, and ${count(hidden, "other")}; --verbose lists all`;
    return `${count(paths.length, "file")}: ${reason}: ${named.join(", ")}${more}`;
  });
}

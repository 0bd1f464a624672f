import path from "node:path";
import type { Imprint } from "@imprint/client";
import type { ImportedFile } from "../import/import-files.js";
import { runImport } from "../import/run-import.js";
import { storing } from "../import/stores.js";
import type { Io } from "../io.js";
import { count } from "../output/text.js";

/** Ids of the sessions in what was imported, each once. */
export const sessionsIn = (files: readonly ImportedFile[]): readonly string[] => [
  ...new Set(files.flatMap(({ sessions }) => sessions.map(({ session_id }) => session_id))),
];

/** Folders as the project keeps them: whatever folder the next command is started in. */
export const absolute = (folders: readonly string[]): string[] => folders.map((one) => path.resolve(one));

/** Imports what the folders hold, as `imprint import` does, and answers the files. Throws a UsageError where there is no session. */
export async function importMembers({
  io,
  folders,
  client,
  note,
}: {
  readonly io: Io;
  readonly folders: readonly string[];
  readonly client: Imprint;
  readonly note: (text: string) => void;
}): Promise<readonly ImportedFile[]> {
  const files = await runImport({ io, paths: folders, since: null, note, connect: (use) => use(storing(client, {})) });
  const stored = sessionsIn(files.filter(({ status }) => status === "stored")).length;
  note(`${count(sessionsIn(files).length, "session")} in ${folders.join(", ")}, ${stored} of them new here.`);
  for (const { path: file, reason } of files.filter(({ status }) => status === "failed")) note(`${file}: ${reason}`);
  return files;
}

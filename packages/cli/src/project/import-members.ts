import path from "node:path";
import type { Imprint } from "@imprint/client";
import type { SessionFormat } from "@imprint/contracts";
import { UsageError } from "../errors.js";
import type { ImportedFile, ImportedSession } from "../import/import-files.js";
import { runImport } from "../import/run-import.js";
import { storing } from "../import/stores.js";
import type { Io } from "../io.js";
import { count } from "../output/text.js";
import type { Scope } from "./scope.js";

const sessionsOf = (files: readonly ImportedFile[]): readonly ImportedSession[] => [
  ...new Map(files.flatMap(({ sessions }) => sessions.map((session) => [session.session_id, session] as const))).values(),
];

/** Ids of the sessions in what was imported, each once. */
export const sessionsIn = (files: readonly ImportedFile[]): readonly string[] =>
  sessionsOf(files).map(({ session_id }) => session_id);

/** Folders as the project keeps them: whatever folder the next command is started in. */
export const absolute = (folders: readonly string[]): string[] => folders.map((one) => path.resolve(one));

/** Runs of benchmarks and rows of data sets, which are of many repositories and belong together all the same. */
const OF_MANY: ReadonlySet<SessionFormat> = new Set([
  ...(["swe-agent", "mini-swe-agent", "openhands-v0", "openhands-v1", "atif", "agent-data-protocol"] as const),
  ...(["native", "chat-jsonl", "sharegpt", "sts"] as const),
]);

const placeOf = ({ format, repository }: ImportedSession): string | undefined => (OF_MANY.has(format) ? undefined : repository);

/** Ids of the sessions that a project takes in of what was imported. */
export type Choose = (files: readonly ImportedFile[]) => readonly string[];

/**
 * Chooses sessions of one repository: agents keep those of all repositories in one folder, and a project mixes none. It is the only
 * one there, or the one that is called as the project. Sessions that do not say theirs are taken. Throws a UsageError for several.
 */
export function oneRepository(name: string, note: (text: string) => void): Choose {
  let chosen: string | undefined;
  return (files) => {
    const sessions = sessionsOf(files);
    const counts = new Map<string, number>();
    for (const place of sessions.flatMap((session) => placeOf(session) ?? [])) counts.set(place, (counts.get(place) ?? 0) + 1);
    const found = [...counts].sort(([, a], [, b]) => b - a);
    chosen ??= found.length > 1 ? found.find(([place]) => place.toLowerCase() === name)?.[0] : found[0]?.[0];
    if (chosen === undefined && found.length > 1) {
      const named = found.slice(0, 5).map(([place, times]) => `${place} (${times})`);
      throw new UsageError(
        `sessions of ${found.length} repositories are there, and a project is of one: ${named.join(", ")}${found.length > named.length ? ", ..." : ""}\nName it: --repository ${found[0]?.[0]}`,
      );
    }
    const own = sessions.filter((session) => [undefined, chosen].includes(placeOf(session)));
    if (own.length < sessions.length) note(`${count(sessions.length - own.length, "session")} of other repositories left out.`);
    return own.map(({ session_id }) => session_id);
  };
}

interface Members {
  readonly io: Io;
  readonly folders: readonly string[];
  readonly client: Imprint;
  readonly note: (text: string) => void;
  /** Null: all that the folders hold. */
  readonly scope: Scope | null;
}

/** Imports what is a project's of what the folders hold, as `imprint import` does, and answers the files. Throws a UsageError where there is no session. */
export async function importMembers({ io, folders, client, note, scope }: Members): Promise<readonly ImportedFile[]> {
  const files = await runImport({
    io,
    paths: folders,
    since: null,
    note,
    ...(scope && {
      only: async (found) => {
        const own = await scope.filter(found);
        if (own.length > 0) return own;
        throw new UsageError(
          `none of the ${count(found.length, "file")} in ${folders.join(", ")} was recorded in ${scope.repository}`,
        );
      },
    }),
    connect: (use) => use(storing(client, {})),
  });
  const stored = sessionsIn(files.filter(({ status }) => status === "stored")).length;
  const where = scope === null ? folders.join(", ") : scope.repository;
  note(`${count(sessionsIn(files).length, "session")} in ${where}, ${stored} of them new here.`);
  for (const { path: file, reason } of files.filter(({ status }) => status === "failed")) note(`${file}: ${reason}`);
  return files;
}

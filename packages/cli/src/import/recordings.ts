import { existsSync, statSync } from "node:fs";
import type { Imprint } from "@imprint/client";
import { UsageError } from "../errors.js";
import type { Io } from "../io.js";
import { importMembers, sessionsIn } from "../project/import-members.js";

const isRecording = (given: string): boolean => existsSync(given) && statSync(given).isFile();

/** Ids to check a request with before what was recorded in files is imported. Throws a UsageError for a file that is not there. */
export const provisionalIds = (given: readonly string[]): readonly string[] =>
  given.map((one, index) => {
    if (isRecording(one)) return `file-${index}`;
    if (/[/\\]/.test(one)) throw new UsageError(`there is no file ${one}: SESSION is an id, or the file of a recorded session`);
    return one;
  });

interface Given {
  readonly io: Io;
  readonly client: Imprint;
  readonly note: (text: string) => void;
}

/** Ids in place of files, which are imported as `imprint import` does. Throws a UsageError for one that holds no session. */
export async function importRecordings(given: readonly string[], { io, client, note }: Given): Promise<readonly string[]> {
  const ids: string[] = [];
  for (const one of given) {
    const files = isRecording(one) ? await importMembers({ io, folders: [one], client, note, scope: null }) : null;
    ids.push(...(files === null ? [one] : sessionsIn(files)));
  }
  return [...new Set(ids)];
}

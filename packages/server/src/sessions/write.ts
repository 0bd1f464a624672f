import { rename, utimes } from "node:fs/promises";
import type { Session } from "@imprint/contracts";
import { syncPath, writeSynced } from "../storage/durable.js";
import { type StoredSession, sessionPath } from "./read.js";

/** Steps written at once. */
const PIECE = 256;

/** A session as JSON, in pieces: a long one would otherwise be in memory again as a text, and once more as bytes. */
function* jsonOf({ steps, ...rest }: Session): Generator<string> {
  yield `${JSON.stringify(rest).slice(0, -1)},"steps":[`;
  for (let from = 0; from < steps.length; from += PIECE)
    yield `${from === 0 ? "" : ","}${JSON.stringify(steps.slice(from, from + PIECE)).slice(1, -1)}`;
  yield "]}\n";
}

/** Writes a session's file where it waits for `moveStaged`. */
export const stageSession = async ({ session, storedAt }: StoredSession, staging: string): Promise<void> => {
  const path = sessionPath(staging, session.session_id);
  await writeSynced(path, jsonOf(session));
  // The time of the file is when the session was stored.
  await utimes(path, new Date(storedAt), new Date(storedAt));
};

/** Puts staged sessions into the sessions' folder: each of them the old one or the new one for a reader, never a part. */
export const moveStaged = async (
  sessionIds: readonly string[],
  { staging, folder }: { readonly staging: string; readonly folder: string },
): Promise<void> => {
  for (const id of sessionIds) await rename(sessionPath(staging, id), sessionPath(folder, id));
  if (sessionIds.length > 0) await syncPath(folder, { folder: true });
};

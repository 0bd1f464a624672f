import { stat } from "node:fs/promises";
import type { Imprint } from "@imprint/client";
import type { Session } from "@imprint/contracts";
import { importSessions } from "@imprint/sessions";
import { UsageError } from "../../errors.js";
import { sourcesOf } from "../../files/recorded.js";
import { storedSessions } from "../../ids/full-id.js";
import { isUnreadable } from "../../import/import-files.js";

/** The one session of a recording's file; null where there is no such file. Throws a UsageError for one that holds none, or several. */
export async function recordedSession(file: string): Promise<Session | null> {
  const found = await stat(file).catch(() => null);
  if (found === null || !found.isFile()) return null;
  try {
    const { sessions } = await importSessions(sourcesOf({ path: file, size: found.size }));
    const [only] = sessions;
    if (only !== undefined && sessions.length === 1) return only;
    throw new UsageError(`${file} holds ${sessions.length} sessions: import it, and name one of them`);
  } catch (error) {
    if (isUnreadable(error)) throw new UsageError(`${file}: ${error.message}`);
    throw error;
  }
}

/** A stored session, by any short form of its id. Throws a UsageError where there is none. */
export async function storedSession(
  given: string,
  { client, note }: { client: Imprint; note: (text: string) => void },
): Promise<Session> {
  const [id = given] = await storedSessions([given], { client, note });
  return client.sessions.content(id);
}

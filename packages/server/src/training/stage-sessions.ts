import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { PreviewSpec, Session } from "@imprint/contracts";
import { ImprintError } from "../common/error.js";
import type { ReadOptions } from "../sessions/read.js";
import { readSession } from "../sessions/read.js";

/** What a worker is told of the sessions: those that were staged, and those left out since they cannot be read. */
type Staged = Pick<PreviewSpec, "session_ids" | "unreadable"> & { readonly session_paths: [string, ...string[]] };

/**
 * Copies stored sessions into a folder of one job or preview: what was checked is what is trained, whatever happens to the
 * stored files meanwhile. Leaves no folder behind when it rejects.
 * @throws ImprintError of reading, or what `check` throws; with `skipInvalid` a damaged session only when no other is left
 */
export const stageSessions = async ({
  sessionIds,
  staging,
  skipInvalid,
  check = () => undefined,
  ...stored
}: Omit<ReadOptions, "sessionId"> & {
  readonly sessionIds: readonly string[];
  readonly staging: string;
  readonly skipInvalid: boolean;
  readonly check?: (session: Session) => void;
}): Promise<Staged> => {
  const paths: string[] = [];
  const ids: string[] = [];
  const damaged: { readonly session_id: string; readonly error: ImprintError }[] = [];
  const stage = async (sessionId: string): Promise<void> => {
    const { session } = await readSession({ ...stored, sessionId });
    check(session);
    const path = join(staging, `session-${ids.length + 1}.json`);
    await writeFile(path, JSON.stringify(session), { mode: 0o600 });
    paths.push(path);
    ids.push(sessionId);
  };
  try {
    await mkdir(staging, { recursive: true, mode: 0o700 });
    // One after the other: a job of many sessions never holds them all.
    for (const session_id of sessionIds) {
      try {
        await stage(session_id);
      } catch (error) {
        if (!(skipInvalid && error instanceof ImprintError && error.code === "SESSION_INVALID")) throw error;
        damaged.push({ session_id, error });
      }
    }
    const [first, ...others] = paths;
    if (first === undefined) throw damaged[0]?.error ?? new ImprintError("NOTHING_TO_TRAIN", "No session was named.");
    const unreadable = damaged.map(({ session_id, error }) => ({ session_id, message: error.message }));
    return { session_paths: [first, ...others], session_ids: ids, unreadable };
  } catch (error) {
    await rm(staging, { recursive: true, force: true });
    throw error;
  }
};

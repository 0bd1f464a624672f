import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import type { PreviewSpec, SessionSummary } from "@imprint/contracts";
import { ImprintError } from "../common/error.js";
import { knownFile, type SessionIndex, type StoreDeps } from "./session-index.js";
import { copySession } from "./write.js";

/** What a worker is told of the sessions: those that were staged, and those left out since they cannot be read. */
export type Staged = Pick<PreviewSpec, "session_ids" | "unreadable"> & { readonly session_paths: [string, ...string[]] };

export interface Staging {
  readonly sessionIds: readonly string[];
  /** Made by this, and removed again when it rejects. */
  readonly folder: string;
  /** Whether a damaged session is left out, as long as another is left. */
  readonly skipInvalid: boolean;
  /** Throws for a session that is not wanted. */
  readonly check?: (session: SessionSummary) => void;
}

/**
 * Copies stored sessions into a folder of one job or preview: what was checked is what is trained, whatever happens to the
 * stored files meanwhile.
 * @throws ImprintError of finding a session, or what `check` throws
 */
export const stageSessions = async (
  { sessionIds, folder: staging, skipInvalid, check = () => undefined }: Staging,
  { deps: { folder, files, lock }, index }: { readonly deps: StoreDeps; readonly index: SessionIndex },
): Promise<Staged> => {
  const paths: string[] = [];
  const ids: string[] = [];
  const damaged: { readonly session_id: string; readonly error: ImprintError }[] = [];
  const stage = (sessionId: string): Promise<void> =>
    lock([sessionId], async () => {
      const { summary, byHand } = await index.findLocked(sessionId);
      check(summary);
      const path = join(staging, `session-${ids.length + 1}.json`);
      const session = knownFile(folder, sessionId);
      if (byHand) await files.run("read", { session, write: { path } });
      else await copySession(session, path);
      paths.push(path);
      ids.push(sessionId);
    });
  try {
    await mkdir(staging, { recursive: true, mode: 0o700 });
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

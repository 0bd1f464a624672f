import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Session } from "@imprint/contracts";
import type { ReadOptions } from "../sessions/read.js";
import { readSession } from "../sessions/read.js";

/**
 * Copies stored sessions into a folder of one job or preview: what was checked is what is trained, whatever happens to the
 * stored files meanwhile. Leaves no folder behind when it rejects.
 * @throws JobError of reading, or what `check` throws
 */
export const stageSessions = async ({
  sessionIds,
  staging,
  check = () => undefined,
  ...stored
}: Omit<ReadOptions, "sessionId"> & {
  readonly sessionIds: readonly string[];
  readonly staging: string;
  readonly check?: (session: Session) => void;
}): Promise<[string, ...string[]]> => {
  const stage = async (sessionId: string, index: number): Promise<string> => {
    const { session } = await readSession({ ...stored, sessionId });
    check(session);
    const path = join(staging, `session-${index + 1}.json`);
    await writeFile(path, JSON.stringify(session), { mode: 0o600 });
    return path;
  };
  try {
    await mkdir(staging, { recursive: true, mode: 0o700 });
    const [first = "", ...others] = sessionIds;
    const paths: [string, ...string[]] = [await stage(first, 0)];
    // One after the other: a job of many sessions never holds them all.
    for (const [index, sessionId] of others.entries()) paths.push(await stage(sessionId, index + 1));
    return paths;
  } catch (error) {
    await rm(staging, { recursive: true, force: true });
    throw error;
  }
};

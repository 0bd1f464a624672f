import type { Stats } from "node:fs";
import { type FileHandle, lstat, readdir } from "node:fs/promises";
import { join } from "node:path";
import { SessionId } from "@imprint/contracts";
import { ImprintError, nullIfMissing } from "../common/error.js";
import { openUnfollowed } from "../storage/durable.js";

/** Compiled: lists match thousands of names. */
const SESSION_ID = new RegExp((SessionId as unknown as { readonly pattern: string }).pattern);

export const isSessionId = (text: string): boolean => SESSION_ID.test(text);

export const sessionPath = (folder: string, sessionId: string): string => join(folder, `${sessionId}.json`);

/** Where a session lies: plain data, so that another process can read it. */
export interface SessionFile {
  readonly folder: string;
  readonly sessionId: string;
  /** Bytes it may have. */
  readonly limit: number;
}

export const invalid = (sessionId: string, why: string, cause?: unknown): ImprintError =>
  new ImprintError("SESSION_INVALID", `The stored session ${sessionId} cannot be read: ${why}.`, { cause });

export const notFound = (sessionId: string): ImprintError =>
  new ImprintError("SESSION_NOT_FOUND", `There is no session ${JSON.stringify(sessionId.slice(0, 80))}.`);

/** Which bytes a file holds, without reading them. Imprint never writes into a session's file, it replaces it. */
export const fingerprintOf = ({ ino, size, mtimeMs }: Stats): string => `${ino}-${size}-${mtimeMs}`;

/** Why a path is not read, in words; null for a regular file that is not too large. */
const refusalOf = (stats: Stats, limit: number): string | null => {
  if (stats.isSymbolicLink()) return "it is a link, and only a regular file is read: put a copy there";
  if (!stats.isFile()) return `it is ${stats.isDirectory() ? "a folder" : "a pipe or a device"}, and only a regular file is read`;
  return stats.size > limit ? `the file has ${stats.size} bytes, more than session_limit, which is ${limit}` : null;
};

const check = (stats: Stats, { sessionId, limit }: SessionFile): Stats => {
  const refusal = refusalOf(stats, limit);
  if (refusal !== null) throw invalid(sessionId, refusal);
  return stats;
};

/** @throws ImprintError SESSION_NOT_FOUND, or SESSION_INVALID for what is not to be opened */
export const statSession = async (file: SessionFile): Promise<Stats> => {
  if (!isSessionId(file.sessionId)) throw notFound(file.sessionId);
  const stats = await lstat(sessionPath(file.folder, file.sessionId)).catch(nullIfMissing);
  if (stats === null) throw notFound(file.sessionId);
  return check(stats, file);
};

/** Opens a stored session for reading. The handle is the caller's to close. */
export const openSession = async (file: SessionFile): Promise<{ readonly handle: FileHandle; readonly stats: Stats }> => {
  await statSession(file);
  // Something else may have taken the file's place meanwhile.
  const { handle, stats } = await openUnfollowed(sessionPath(file.folder, file.sessionId));
  try {
    return { handle, stats: check(stats, file) };
  } catch (error) {
    await handle.close();
    throw error;
  }
};

/** What lies among the sessions and is not read, each with why: links, folders, pipes, devices, and files beyond `limit` bytes. */
export const unreadSessions = async (
  folder: string,
  limit: number,
): Promise<readonly { readonly name: string; readonly why: string }[]> => {
  const names = (await readdir(folder).catch(nullIfMissing)) ?? [];
  const found: { readonly name: string; readonly why: string }[] = [];
  for (const name of names.filter((one) => one.endsWith(".json"))) {
    const stats = await lstat(join(folder, name)).catch(nullIfMissing);
    const why = stats && refusalOf(stats, limit);
    if (why !== null) found.push({ name, why });
  }
  return found;
};

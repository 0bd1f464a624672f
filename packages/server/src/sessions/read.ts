import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { Session, SessionId } from "@imprint/contracts";
import { faultsOf } from "@imprint/contracts/fields";
import { ImprintError } from "../common/error.js";
import { matches } from "../common/matches.js";
import { migrateSession, SessionTooNewError, type StoredDocument } from "./migrate-session.js";

/** Compiled: lists match thousands of names. */
const SESSION_ID = new RegExp((SessionId as unknown as { readonly pattern: string }).pattern);

export const isSessionId = (text: string): boolean => SESSION_ID.test(text);

export const sessionPath = (folder: string, sessionId: string): string => join(folder, `${sessionId}.json`);

/** A session as it lies in the data directory. */
export interface StoredSession {
  readonly session: Session;
  /** When its file was last written, ISO 8601. */
  readonly storedAt: string;
}

export interface ReadOptions {
  readonly folder: string;
  readonly sessionId: string;
  /** Bytes a session file may have. */
  readonly limit: number;
}

const invalid = (sessionId: string, why: string, cause?: unknown): ImprintError =>
  new ImprintError("SESSION_INVALID", `The stored session ${sessionId} cannot be read: ${why}.`, { cause });

const notFound = (sessionId: string): ImprintError => new ImprintError("SESSION_NOT_FOUND", `There is no session ${sessionId}.`);

const readBytes = async ({
  folder,
  sessionId,
  limit,
}: ReadOptions): Promise<{ readonly bytes: Buffer; readonly storedAt: string }> => {
  if (!isSessionId(sessionId)) throw notFound(sessionId.slice(0, 80));
  const path = sessionPath(folder, sessionId);
  try {
    const { size, mtime } = await stat(path);
    if (size > limit) throw invalid(sessionId, `the file has ${size} bytes, more than the limit of ${limit}`);
    return { bytes: await readFile(path), storedAt: mtime.toISOString() };
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") throw notFound(sessionId);
    throw error;
  }
};

const parse = (bytes: Buffer, sessionId: string): unknown => {
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch (error) {
    throw invalid(sessionId, "it is not JSON, perhaps cut off", error);
  }
};

const isCanonical = (value: unknown): value is StoredDocument =>
  typeof value === "object" && value !== null && "schema_version" in value && "source" in value;

const migrated = (document: StoredDocument, sessionId: string): StoredDocument => {
  try {
    return migrateSession(document);
  } catch (error) {
    throw error instanceof SessionTooNewError ? invalid(sessionId, error.message, error) : error;
  }
};

/**
 * Reads a stored session. Files of the native trajectory shape that were put there by hand are converted on the way.
 * The file's name is its id, whatever it says inside.
 * @throws ImprintError SESSION_NOT_FOUND or SESSION_INVALID
 */
export const readSession = async (options: ReadOptions): Promise<StoredSession> => {
  const { sessionId } = options;
  const { bytes, storedAt } = await readBytes(options);
  const document = parse(bytes, sessionId);
  if (isCanonical(document)) {
    const value = migrated(document, sessionId);
    if (!matches(Session, value)) {
      const [first] = faultsOf(Session, value);
      throw invalid(sessionId, `${first?.instancePath ?? ""} ${first?.message ?? "it is damaged"}`.trim());
    }
    return { session: { ...value, session_id: sessionId }, storedAt };
  }
  // Loaded at the first use, so that the start does not wait.
  const { importSessions } = await import("@imprint/sessions");
  try {
    const { sessions } = await importSessions([{ name: `${sessionId}.json`, bytes }], { format: "native" });
    const [session] = sessions;
    if (session) return { session: { ...session, session_id: sessionId }, storedAt };
  } catch (error) {
    throw invalid(sessionId, error instanceof Error ? error.message.replace(/\.$/, "") : "it is damaged", error);
  }
  throw invalid(sessionId, "it holds no conversation");
};

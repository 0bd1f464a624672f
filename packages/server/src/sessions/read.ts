import { SESSION_SCHEMA_VERSION, Session } from "@imprint/contracts";
import { faultsOf } from "@imprint/contracts/fields";
import { Compile } from "typebox/schema";
import { fingerprintOf, invalid, openSession, type SessionFile } from "./session-file.js";

/** A session as it lies in the data directory. */
export interface StoredSession {
  readonly session: Session;
  /** When its file was last written, ISO 8601. */
  readonly storedAt: string;
  readonly fingerprint: string;
  /** Whether the file holds just this, under this id, and is no file of another shape that was converted. */
  readonly canonical: boolean;
}

/** Compiled: without it, a million steps take 14 s to check. */
let validator: { Check(value: unknown): boolean } | undefined;

const isSession = (value: unknown): value is Session => {
  validator ??= Compile(Session);
  return validator.Check(value);
};

const parse = (bytes: Buffer, sessionId: string): unknown => {
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes));
  } catch (error) {
    throw invalid(sessionId, "it is not JSON, perhaps cut off", error);
  }
};

const isCanonical = (value: unknown): value is { readonly schema_version: unknown; readonly session_id?: unknown } =>
  typeof value === "object" && value !== null && "schema_version" in value && "source" in value;

const fromNative = async (bytes: Buffer, sessionId: string): Promise<Session> => {
  // Loaded at the first use, so that the start does not wait.
  const { importSessions } = await import("@imprint/sessions");
  try {
    const { sessions } = await importSessions([{ name: `${sessionId}.json`, bytes }], { format: "native" });
    const [session] = sessions;
    if (session) return session;
  } catch (error) {
    throw invalid(sessionId, error instanceof Error ? error.message.replace(/\.$/, "") : "it is damaged", error);
  }
  throw invalid(sessionId, "it holds no conversation");
};

/**
 * Reads a stored session as a whole. Files of the native trajectory shape that were put there by hand are converted on the way.
 * The file's name is its id, whatever it says inside.
 * @throws ImprintError SESSION_NOT_FOUND or SESSION_INVALID
 */
export const readSession = async (file: SessionFile): Promise<StoredSession> => {
  const { sessionId } = file;
  const { handle, stats } = await openSession(file);
  const bytes = await handle.readFile().finally(() => handle.close());
  const stored = { storedAt: stats.mtime.toISOString(), fingerprint: fingerprintOf(stats) };
  const value = parse(bytes, sessionId);
  if (!isCanonical(value))
    return { ...stored, session: { ...(await fromNative(bytes, sessionId)), session_id: sessionId }, canonical: false };
  const { schema_version: version } = value;
  if (Number.isInteger(version) && Number(version) > SESSION_SCHEMA_VERSION)
    throw invalid(
      sessionId,
      `it has schema version ${version}, and this Imprint knows ${SESSION_SCHEMA_VERSION}: use a newer Imprint`,
    );
  if (isSession(value))
    return { ...stored, session: { ...value, session_id: sessionId }, canonical: value.session_id === sessionId };
  const [first] = faultsOf(Session, value);
  throw invalid(sessionId, `${first?.instancePath ?? ""} ${first?.message ?? "it is damaged"}`.trim());
};

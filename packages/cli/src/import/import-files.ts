import { ApiError } from "@imprint/client";
import type { SessionSummary } from "@imprint/contracts";
import type { Candidate } from "../files/candidate.js";

/** Whether an importer refused the bytes: they are no recorded session. */
export const isUnreadable = (error: unknown): error is Error =>
  error instanceof Error && "code" in error && error.code === "SESSION_UNREADABLE";

/** A session as the summary shows it. */
export type ImportedSession = Pick<
  SessionSummary,
  | "session_id"
  | "format"
  | "outcome"
  | "redactions"
  | "task"
  | "parent"
  | "user_turns"
  | "assistant_turns"
  | "tool_calls"
  | "tool_results"
  | "trainable_turns"
  | "repository"
  | "own"
>;

/** What became of one file. A file that was only come across and is no session is `skipped`; one that was named `failed`. */
export interface ImportedFile {
  readonly path: string;
  readonly status: "stored" | "known" | "readable" | "skipped" | "failed";
  readonly sessions: readonly ImportedSession[];
  readonly warnings: readonly string[];
  readonly reason?: string;
}

export interface Stored {
  readonly status: "stored" | "known" | "readable";
  readonly sessions: readonly ImportedSession[];
  readonly warnings: readonly string[];
}

/** Takes one candidate. Rejects with an error of code SESSION_UNREADABLE when it is no session, and at once when `signal` aborts. */
export type Store = (candidate: Candidate, signal: AbortSignal) => Promise<Stored>;

/** What one file's own trouble is: it does not stop the others. */
function reasonOf(error: unknown): string | null {
  if (isUnreadable(error)) return error.message;
  if (error instanceof ApiError && error.status === 413) return error.detail;
  return error instanceof Error && "code" in error && "syscall" in error ? `cannot be read (${String(error.code)})` : null;
}

async function importFile(candidate: Candidate, store: Store, signal: AbortSignal): Promise<ImportedFile | null> {
  const { path, named } = candidate;
  try {
    return { path, ...(await store(candidate, signal)) };
  } catch (error) {
    if (signal.aborted) return null;
    const reason = reasonOf(error);
    if (reason === null) throw error;
    return { path, status: !named && isUnreadable(error) ? "skipped" : "failed", sessions: [], warnings: [], reason };
  }
}

export interface Observer {
  onStart?(candidate: Candidate): void;
  onFile?(file: ImportedFile, candidate: Candidate): void;
}

/** Imports one file after the other, until `signal` aborts. Rejects at the first error that is not about a file. */
export async function importFiles(
  candidates: readonly Candidate[],
  {
    store,
    observer = {},
    signal = new AbortController().signal,
  }: { readonly store: Store; readonly observer?: Observer; readonly signal?: AbortSignal },
): Promise<readonly ImportedFile[]> {
  const files: ImportedFile[] = [];
  for (const candidate of candidates) {
    if (signal.aborted) break;
    observer.onStart?.(candidate);
    const file = await importFile(candidate, store, signal);
    if (file === null) break;
    files.push(file);
    observer.onFile?.(file, candidate);
  }
  return files;
}

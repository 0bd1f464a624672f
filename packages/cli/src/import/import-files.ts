import { readFile } from "node:fs/promises";
import { ApiError } from "@imprint/client";
import type { SessionSummary } from "@imprint/contracts";
import type { Candidate } from "../files/walk.js";
import { isUnreadable } from "./unreadable.js";

/** A session as the summary shows it. */
export type ImportedSession = Pick<
  SessionSummary,
  "session_id" | "format" | "outcome" | "redactions" | "task" | "user_turns" | "assistant_turns" | "tool_calls" | "tool_results"
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

/** Takes one file's bytes. Rejects with an error of code SESSION_UNREADABLE when they are no session. */
export type Store = (bytes: Uint8Array, path: string) => Promise<Stored>;

/** What one file's own trouble is: it does not stop the others. */
function reasonOf(error: unknown): string | null {
  if (isUnreadable(error)) return error.message;
  if (error instanceof ApiError && error.status === 413) return error.detail;
  return error instanceof Error && "code" in error && "syscall" in error ? `cannot be read (${String(error.code)})` : null;
}

/** The events of a folder one a line. Line breaks in JSON only stand between values. */
async function joined(parts: readonly string[]): Promise<Uint8Array> {
  const texts = await Promise.all(parts.map((part) => readFile(part, "utf8")));
  return new TextEncoder().encode(texts.map((text) => `${text.replaceAll(/\r?\n/g, " ")}\n`).join(""));
}

async function importFile({ path, named, parts }: Candidate, store: Store): Promise<ImportedFile> {
  try {
    const bytes = parts === undefined ? await readFile(path) : await joined(parts);
    return { path, ...(await store(bytes, path)) };
  } catch (error) {
    const reason = reasonOf(error);
    if (reason === null) throw error;
    return { path, status: !named && isUnreadable(error) ? "skipped" : "failed", sessions: [], warnings: [], reason };
  }
}

/** Imports one file after the other. Rejects at the first error that is not about a file. */
export async function importFiles(candidates: readonly Candidate[], store: Store): Promise<readonly ImportedFile[]> {
  const files: ImportedFile[] = [];
  for (const candidate of candidates) files.push(await importFile(candidate, store));
  return files;
}

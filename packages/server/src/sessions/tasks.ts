import { createReadStream } from "node:fs";
import { open } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Outcome, SessionFormat, SessionSummary } from "@imprint/contracts";
import type { Outline } from "@imprint/sessions";
import { ImprintError } from "../common/error.js";
import { syncPath } from "../storage/durable.js";
import { readSession } from "./read.js";
import { relationOf } from "./recordings.js";
import { isSessionId, type SessionFile, sessionPath } from "./session-file.js";
import { toSummary } from "./summary.js";
import { writeSession } from "./write.js";

/** Bounds of one import, by the importers' names. */
export interface ImportBounds {
  readonly conversations?: number;
  /** Bytes after decompression. */
  readonly decoded?: number;
  readonly ratio?: number;
}

/** What needs a whole session in memory, by name: plain data, so that another process can do it. */
export interface Tasks {
  /**
   * Reads a recording, a conversation at a time, and writes each into the folder `staging` as `<session_id>.json`, and what lists
   * show of them into `summariesPath(staging)`, a line each: thousands of them in one message would keep the service busy.
   */
  readonly import: {
    /** A path; or the recording itself, which is to be on no disk before its secrets were replaced. */
    readonly source: { readonly file: string } | { readonly text: string };
    readonly format?: SessionFormat | undefined;
    readonly outcome?: Outcome | undefined;
    readonly folder?: string | undefined;
    readonly staging: string;
    readonly bounds?: ImportBounds | undefined;
    /** Now, ISO 8601. */
    readonly at: string;
  };
  /**
   * Reads a stored session, and writes it as a new file where `write` says so: with another id or outcome, or what else is known of
   * where it was recorded, where those are given.
   */
  readonly read: {
    readonly session: SessionFile;
    readonly write?: {
      readonly path: string;
      readonly sessionId?: string;
      readonly outcome?: Outcome;
      readonly facts?: SessionFacts;
    };
  };
  readonly compare: { readonly stored: SessionFile; readonly next: SessionFile };
  /** What tells of which work a stored session is. */
  readonly touched: { readonly session: SessionFile };
}

export interface Answers {
  readonly import: { readonly warnings: readonly string[] };
  /** `summary` is of what was written, if anything was; `fingerprint` and `canonical` of what was read. */
  readonly read: { readonly summary: SessionSummary; readonly fingerprint: string; readonly canonical: boolean };
  readonly compare: {
    readonly relation: ReturnType<typeof relationOf>;
    readonly steps: { readonly stored: number; readonly next: number };
  };
  /** Files that its calls name, each by its folder and name, and when it began, where its recording says so. */
  readonly touched: Outline & { readonly files: readonly string[]; readonly startedAt: string | null };
}

/** What a recording says of where it was made. */
export type SessionFacts = Pick<SessionSummary, "folder" | "repository" | "branch" | "provider">;

export type TaskName = keyof Tasks;

type ByName<Of extends TaskName = TaskName> = { readonly [Name in Of]: (task: Tasks[Name]) => Promise<Answers[Name]> };

const SYNCED_AT_ONCE = 16;

const summariesPath = (staging: string): string => join(staging, "summaries.jsonl");

/** What an import found, in the file's order. */
export const readSummaries = async (staging: string): Promise<readonly SessionSummary[]> => {
  const summaries: SessionSummary[] = [];
  for await (const line of createInterface({ input: createReadStream(summariesPath(staging)) })) summaries.push(JSON.parse(line));
  return summaries;
};

/** A refusal that says which setting allows more. */
const naming = (error: unknown): unknown => {
  if (!(error instanceof Error) || !("limit" in error) || error.limit !== "decoded") return error;
  const message = `${error.message.replace(/\.$/, "")}, or start the service with a higher import_unpacked_bytes.`;
  return new ImprintError("SESSION_UNREADABLE", message, { cause: error });
};

/** Bytes of a text that are read at once. */
const PIECE = 1024 * 1024;

async function* bytesOf(source: Tasks["import"]["source"]): AsyncGenerator<Uint8Array> {
  if ("file" in source) return yield* createReadStream(source.file) as AsyncIterable<Uint8Array>;
  const bytes = Buffer.from(source.text);
  for (let at = 0; at < bytes.length; at += PIECE) yield bytes.subarray(at, at + PIECE);
}

const BY_NAME: ByName = {
  import: async ({ source, format, outcome, folder, staging, bounds, at }) => {
    // Loaded at the first use, so that the start does not wait.
    const { importSessions, LIMITS } = await import("@imprint/sessions");
    const paths: string[] = [];
    const summaries = await open(summariesPath(staging), "wx", 0o600);
    try {
      const { warnings } = await importSessions([{ name: "The file", bytes: () => bytesOf(source) }], {
        ...(format && { format }),
        ...(outcome && { outcome }),
        ...(folder && { folder }),
        limits: { ...LIMITS, ...bounds, ...("text" in source && { line: Buffer.byteLength(source.text) }) },
        onSession: async (session) => {
          if (!isSessionId(session.session_id)) throw new ImprintError("INTERNAL_ERROR", "The importer made an id that is none.");
          const path = sessionPath(staging, session.session_id);
          await writeSession(session, { path, storedAt: at, synced: false });
          paths.push(path);
          await summaries.appendFile(`${JSON.stringify(await toSummary(session, at))}\n`);
        },
      });
      // Only now: thousands of files of a recording that is refused in its middle need not be on the disk.
      for (let from = 0; from < paths.length; from += SYNCED_AT_ONCE)
        await Promise.all(paths.slice(from, from + SYNCED_AT_ONCE).map((path) => syncPath(path)));
      return { warnings };
    } catch (error) {
      throw naming(error);
    } finally {
      await summaries.close();
    }
  },
  read: async ({ session: file, write }) => {
    const { session, storedAt, fingerprint, canonical } = await readSession(file);
    const { sessionId: session_id = session.session_id, outcome = session.outcome, facts } = write ?? {};
    const written = { ...session, session_id, outcome, source: { ...session.source, ...facts } };
    if (write) await writeSession(written, { path: write.path, storedAt });
    return { summary: await toSummary(written, storedAt), fingerprint, canonical };
  },
  compare: async (files) => {
    const { session: stored } = await readSession(files.stored);
    const { session: next } = await readSession(files.next);
    return { relation: relationOf(stored, next), steps: { stored: stored.steps.length, next: next.steps.length } };
  },
  touched: async ({ session: file }) => {
    const { outlineOf, touchedFiles } = await import("@imprint/sessions");
    const { session } = await readSession(file);
    return { ...outlineOf(session), files: touchedFiles(session), startedAt: session.started_at };
  },
};

/** Rejects with an ImprintError, or an error of code SESSION_UNREADABLE for a recording that is none. */
export const runTask = <Name extends TaskName>(name: Name, task: Tasks[Name]): Promise<Answers[Name]> =>
  (BY_NAME as ByName<Name>)[name](task);

const pathOf = ({ folder, sessionId }: SessionFile): string => sessionPath(folder, sessionId);

const FILES: { readonly [Name in TaskName]: (task: Tasks[Name]) => readonly string[] } = {
  import: ({ source }) => ("file" in source ? [source.file] : []),
  read: ({ session }) => [pathOf(session)],
  compare: ({ stored, next }) => [pathOf(stored), pathOf(next)],
  touched: ({ session }) => [pathOf(session)],
};

/** The files that a task reads. */
export const filesOf = <Name extends TaskName>(name: Name, task: Tasks[Name]): readonly string[] =>
  (FILES as { readonly [Of in Name]: (task: Tasks[Of]) => readonly string[] })[name](task);

/** The text that a task brings along, which is in no file. */
export const textIn = (task: Tasks[TaskName]): string | null =>
  "source" in task && "text" in task.source ? task.source.text : null;

import { createReadStream } from "node:fs";
import type { Outcome, SessionFormat, SessionSummary } from "@imprint/contracts";
import { ImprintError } from "../common/error.js";
import { readSession } from "./read.js";
import { relationOf } from "./recordings.js";
import { isSessionId, type SessionFile, sessionPath } from "./session-file.js";
import { toSummary } from "./summary.js";
import { writeSession } from "./write.js";

/** What needs a whole session in memory, by name: plain data, so that another process can do it. */
export interface Tasks {
  /** Reads a recording, a conversation at a time, and writes each into the folder `staging` as `<session_id>.json`. */
  readonly import: {
    readonly file: string;
    readonly format?: SessionFormat | undefined;
    readonly outcome?: Outcome | undefined;
    readonly staging: string;
    /** Now, ISO 8601. */
    readonly at: string;
  };
  /** Reads a stored session, and writes it as a new file where `write` says so: with another id or outcome, where those are given. */
  readonly read: {
    readonly session: SessionFile;
    readonly write?: { readonly path: string; readonly sessionId?: string; readonly outcome?: Outcome };
  };
  readonly compare: { readonly stored: SessionFile; readonly next: SessionFile };
}

export interface Answers {
  readonly import: { readonly warnings: readonly string[] };
  /** `summary` is of what was written, if anything was; `fingerprint` and `canonical` of what was read. */
  readonly read: { readonly summary: SessionSummary; readonly fingerprint: string; readonly canonical: boolean };
  readonly compare: {
    readonly relation: ReturnType<typeof relationOf>;
    readonly steps: { readonly stored: number; readonly next: number };
  };
}

export type TaskName = keyof Tasks;

/** Hears of each session that an import wrote: ten thousand in one answer would take long to parse. */
export type OnSession = (session: SessionSummary) => void;

type ByName<Of extends TaskName = TaskName> = {
  readonly [Name in Of]: (task: Tasks[Name], onSession: OnSession) => Promise<Answers[Name]>;
};

const BY_NAME: ByName = {
  import: async ({ file, format, outcome, staging, at }, onSession) => {
    // Loaded at the first use, so that the start does not wait.
    const { importSessions } = await import("@imprint/sessions");
    const { warnings } = await importSessions([{ name: "The file", bytes: () => createReadStream(file) }], {
      ...(format && { format }),
      ...(outcome && { outcome }),
      onSession: async (session) => {
        if (!isSessionId(session.session_id)) throw new ImprintError("INTERNAL_ERROR", "The importer made an id that is none.");
        await writeSession(session, { path: sessionPath(staging, session.session_id), storedAt: at });
        onSession(await toSummary(session, at));
      },
    });
    return { warnings };
  },
  read: async ({ session: file, write }) => {
    const { session, storedAt, fingerprint, canonical } = await readSession(file);
    const { sessionId: session_id = session.session_id, outcome = session.outcome } = write ?? {};
    const written = { ...session, session_id, outcome };
    if (write) await writeSession(written, { path: write.path, storedAt });
    return { summary: await toSummary(written, storedAt), fingerprint, canonical };
  },
  compare: async (files) => {
    const { session: stored } = await readSession(files.stored);
    const { session: next } = await readSession(files.next);
    return { relation: relationOf(stored, next), steps: { stored: stored.steps.length, next: next.steps.length } };
  },
};

/** Rejects with an ImprintError, or an error of code SESSION_UNREADABLE for a recording that is none. */
export const runTask = <Name extends TaskName>(name: Name, task: Tasks[Name], onSession: OnSession): Promise<Answers[Name]> =>
  (BY_NAME as ByName<Name>)[name](task, onSession);

const pathOf = ({ folder, sessionId }: SessionFile): string => sessionPath(folder, sessionId);

const FILES: { readonly [Name in TaskName]: (task: Tasks[Name]) => readonly string[] } = {
  import: ({ file }) => [file],
  read: ({ session }) => [pathOf(session)],
  compare: ({ stored, next }) => [pathOf(stored), pathOf(next)],
};

/** The files that a task reads. */
export const filesOf = <Name extends TaskName>(name: Name, task: Tasks[Name]): readonly string[] =>
  (FILES as { readonly [Of in Name]: (task: Tasks[Of]) => readonly string[] })[name](task);

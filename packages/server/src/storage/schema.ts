import type { Generated, GeneratedAlways, Kysely, Transaction as KyselyTransaction } from "kysely";

/** Rows of registered adapters. `seq` orders them; JSON columns hold what is only ever read whole. */
export interface AdapterTable {
  seq: Generated<number>;
  adapter_id: string;
  method: string;
  base_model: string;
  task_type: string;
  /** The first of `session_ids`, which is a JSON list. */
  session_id: string;
  session_ids: string;
  job_id: string;
  rank: number;
  alpha: number;
  size: number;
  sha256: string;
  files: string;
  metadata: string;
  proof: string;
  /** How far a salvaged training came; null for one that went to its end. */
  partial: string | null;
  /** What the last evaluation says; null for none. */
  evaluation: string | null;
  /** Whether what answers its chats applies it; null for not measured. */
  served: string | null;
  /** What the evaluation on tasks says; null for none. */
  tasks: string | null;
  created_at: string;
  /** Set by DELETE: the id stays taken, the adapter is no longer shown. */
  archived_at: string | null;
  /** Set by a purge: the files are gone, or go at the next start. */
  purged_at: string | null;
}

/** Index of `sessions/`: what is shown of a session, so that no file is opened for it. The files are the truth. */
interface SessionTable {
  seq: Generated<number>;
  session_id: string;
  summary: string;
  /** What a search looks through. */
  words: Generated<string>;
  /** Which bytes of the session's file `summary` is of; null for one that an older Imprint indexed. */
  fingerprint: string | null;
  /** 1 where the file was put there by hand. */
  by_hand: Generated<number>;
  /** When the session was first stored as it is, ISO 8601: where it stands, also once its file is changed by hand. */
  stored_at: Generated<string>;
  /** What `summary` says, to filter by. */
  folder: GeneratedAlways<string | null>;
  repository: GeneratedAlways<string | null>;
  branch: GeneratedAlways<string | null>;
  model: GeneratedAlways<string | null>;
  /** When its last message was said, or it was stored where the recording has no times: what lists are in the order of. */
  recorded_at: GeneratedAlways<string>;
}

/** How fast finished trainings of a base model were on this machine. */
interface TrainingSpeedTable {
  seq: Generated<number>;
  base_model: string;
  quantization: string;
  tokens_per_second: number;
}

/** Files that OpenAI's clients uploaded; their content lies in `uploads/<file_id>`. */
export interface UploadTable {
  seq: Generated<number>;
  file_id: string;
  filename: string;
  bytes: number;
  created_at: string;
}

/** Names that mean another adapter from time to time, such as a project's latest. */
interface AdapterAliasTable {
  alias: string;
  adapter_id: string;
  moved_at: string;
}

/** Projects; JSON columns hold what is only ever read whole. */
export interface ProjectTable {
  seq: Generated<number>;
  name: string;
  base_model: string;
  folders: string;
  settings: string;
  created_at: string;
}

/** Sessions of projects as they were when they were last looked at. */
export interface ProjectSessionTable {
  project: string;
  session_id: string;
  /** Of the recording: while it is the same, the rest is. */
  sha256: string;
  content: string;
  opening: string;
  /** When it was recorded, or stored where the recording does not say. */
  at: string;
  characters: number;
}

/** Runs of projects. One without `finished_at` goes on, or its service ended. */
export interface ProjectRunTable {
  seq: Generated<number>;
  project: string;
  /** Counts the runs of its project, from 1. */
  run: number;
  adapter_id: string;
  status: string;
  /** JSON: the sessions that were chosen, and from what. */
  chosen: string;
  seed: number;
  train_job_id: string | null;
  evaluate_job_id: string | null;
  verdict: string | null;
  sentence: string | null;
  figures: string | null;
  /** 1 where the latest moved to its adapter. */
  moved: number;
  error: string | null;
  created_at: string;
  finished_at: string | null;
}

export interface Schema {
  adapters: AdapterTable;
  adapter_aliases: AdapterAliasTable;
  projects: ProjectTable;
  project_sessions: ProjectSessionTable;
  project_runs: ProjectRunTable;
  training_speeds: TrainingSpeedTable;
  sessions: SessionTable;
  uploads: UploadTable;
}

/** The database as a handler sees it: inside one transaction. */
export type Transaction = KyselyTransaction<Schema>;
export type Database = Kysely<Schema>;

/** The end of the range of ids that begin with the prefix, which an index finds: no id has a character so high. */
export const afterPrefix = (prefix: string): string => `${prefix}\u{10ffff}`;

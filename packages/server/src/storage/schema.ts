import type { Generated, Kysely, Transaction as KyselyTransaction } from "kysely";

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
  created_at: string;
  /** Set by DELETE: the id stays taken, the adapter is no longer shown. */
  archived_at: string | null;
  /** Set by a purge: the files are gone, or go at the next sweep. */
  purged_at: string | null;
}

/** Index of `sessions/`: what is shown of a session, so that no file is opened for it. The files are the truth. */
export interface SessionTable {
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
}

/** How fast finished trainings of a base model were on this machine. */
export interface TrainingSpeedTable {
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

export interface Schema {
  adapters: AdapterTable;
  training_speeds: TrainingSpeedTable;
  sessions: SessionTable;
  uploads: UploadTable;
}

/** The database as a handler sees it: inside one transaction. */
export type Transaction = KyselyTransaction<Schema>;
export type Database = Kysely<Schema>;

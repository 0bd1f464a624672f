import { randomBytes } from "node:crypto";
import type { SharedStorage } from "./storage.js";
import type { Store } from "./stores/store.js";

/** One try at a job: a folder on the shared storage, fenced by its token. Nobody reads the folder of another try. */
export interface Attempt {
  readonly job_id: string;
  readonly token: string;
  readonly submission_id: string;
  /** Its name on the shared storage. */
  readonly folder: string;
}

export interface AttemptOrder {
  /** The worker's program and arguments, on the cluster. */
  readonly command: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly graceMs: number;
  readonly startMs: number;
  /** What a node fetches where it does not see the store: what many jobs read, and how. */
  readonly carry: { readonly needs: readonly string[]; readonly pollMs: number; readonly patienceMs: number } | null;
}

/** What our jobs are called on the engine, so that those of others are left alone. */
export const prefixOf = (instance: string): string => `imprint-${instance}-`;

const ID_CHARACTERS = 12; // of a token, in an id that people read

export const attemptOf = ({
  storage: { instance, jobFolder },
  job_id,
  token,
}: {
  readonly storage: Pick<SharedStorage, "instance" | "jobFolder">;
  readonly job_id: string;
  readonly token: string;
}): Attempt => ({
  job_id,
  token,
  submission_id: `${prefixOf(instance)}${job_id}-${token.slice(0, ID_CHARACTERS)}`,
  folder: `${jobFolder(job_id)}/${token}`,
});

export const newToken = (): string => randomBytes(16).toString("hex");

export const makeAttemptFolder = async (store: Store, { folder }: Attempt): Promise<void> => {
  for (const name of ["requests", "output", "checkpoint"]) await store.makeFolder(`${folder}/${name}`);
};

/** The order is the last file of an attempt's preparation. */
export const writeOrder = (store: Store, { folder, token, job_id }: Attempt, order: AttemptOrder): Promise<void> => {
  const { command, env, graceMs, startMs, carry } = order;
  const times = { grace_seconds: graceMs / 1000, start_seconds: startMs / 1000 };
  const carried = carry && {
    needs: carry.needs,
    poll_seconds: carry.pollMs / 1000,
    patience_seconds: carry.patienceMs / 1000,
  };
  return store.put(
    `${folder}/attempt.json`,
    JSON.stringify({ token, job_id, command, env, ...times, ...(carried && { carry: carried }) }),
  );
};

const DIGITS = 4;

export const writeRequest = (store: Store, folder: string, at: number, line: string): Promise<void> =>
  store.put(`${folder}/requests/${String(at).padStart(DIGITS, "0")}.json`, line);

/** Not synced: it is a wish, and the folder may be gone. */
export const writeStop = (store: Store, folder: string, how: "term" | "kill"): Promise<void> =>
  store.hint(`${folder}/stop.json`, JSON.stringify({ how }));

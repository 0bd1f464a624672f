import { randomBytes } from "node:crypto";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { writeAtomically } from "../../storage/durable.js";
import type { SharedStorage } from "./storage.js";

/** One try at a job: a folder on the shared storage, fenced by its token. Nobody reads the folder of another try. */
export interface Attempt {
  readonly job_id: string;
  readonly token: string;
  readonly submission_id: string;
  readonly folder: string;
}

export interface AttemptOrder {
  /** The worker's program and arguments, on the cluster. */
  readonly command: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly graceMs: number;
  readonly startMs: number;
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
  folder: join(jobFolder(job_id), token),
});

export const newToken = (): string => randomBytes(16).toString("hex");

export const makeAttemptFolder = async ({ folder }: Attempt): Promise<void> => {
  for (const name of ["requests", "output", "checkpoint"]) await mkdir(join(folder, name), { recursive: true, mode: 0o700 });
};

/** The order is the last file of an attempt's preparation. */
export const writeOrder = ({ folder, token, job_id }: Attempt, { command, env, graceMs, startMs }: AttemptOrder): Promise<void> =>
  writeAtomically(
    join(folder, "attempt.json"),
    JSON.stringify({ token, job_id, command, env, grace_seconds: graceMs / 1000, start_seconds: startMs / 1000 }),
  );

const DIGITS = 4;

export const writeRequest = (folder: string, at: number, line: string): Promise<void> =>
  writeAtomically(join(folder, "requests", `${String(at).padStart(DIGITS, "0")}.json`), line);

/** Not synced: it is a wish, and the folder may be gone. */
export const writeStop = (folder: string, how: "term" | "kill"): Promise<void> =>
  writeFile(join(folder, "stop.json"), JSON.stringify({ how }), { mode: 0o600 });

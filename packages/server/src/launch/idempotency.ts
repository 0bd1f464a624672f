import { createHash } from "node:crypto";
import { isObject } from "@imprint/contracts";
import { ProblemError } from "../common/error.js";

interface Entry {
  readonly bodyHash: string;
  readonly jobId: string;
}

export interface Idempotency {
  /** The job that the key started with this body, if any. @throws ProblemError when the body was another */
  find(call: Call): string | null;
  remember(call: Call, jobId: string): void;
}

export interface Call {
  readonly key: string;
  readonly path: string;
  readonly body: unknown;
}

/** The same value gives the same text, whatever the order of its keys. */
const canonical = (value: unknown): string =>
  JSON.stringify(value, (_key, part: unknown) =>
    isObject(part) ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1))) : part,
  );

const hashOf = ({ path, body }: Call): string =>
  createHash("sha256")
    .update(`${path}\n${canonical(body)}`)
    .digest("hex");

/** Remembers which job a key started; the oldest keys are forgotten beyond `capacity`. */
export const createIdempotency = ({ capacity }: { readonly capacity: number }): Idempotency => {
  const entries = new Map<string, Entry>();
  return {
    find: (call) => {
      const entry = entries.get(call.key);
      if (!entry) return null;
      if (entry.bodyHash === hashOf(call)) return entry.jobId;
      throw new ProblemError(
        "IDEMPOTENCY_CONFLICT",
        "This Idempotency-Key started another job: use a new key for a new request.",
      );
    },
    remember: (call, jobId) => {
      entries.set(call.key, { bodyHash: hashOf(call), jobId });
      const [oldest] = entries.keys();
      if (entries.size > capacity && oldest !== undefined) entries.delete(oldest);
    },
  };
};

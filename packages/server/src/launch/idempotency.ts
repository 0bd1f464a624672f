import { createHash } from "node:crypto";
import { isObject } from "@imprint/contracts";
import { ProblemError } from "../common/error.js";

interface Entry {
  readonly bodyHash: string;
  readonly answer: Promise<unknown>;
}

export interface Idempotency {
  /**
   * Does what a call asks for, once: the same call again, also while the first is under way, gets the first one's answer. What
   * failed is forgotten, and done anew. Without a key there is nothing to know a call by.
   * @throws ProblemError IDEMPOTENCY_CONFLICT where the key came with another body
   */
  once<T>(call: Call | null, work: () => Promise<T>): Promise<T>;
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

/** Remembers what calls with a key were answered; the oldest keys are forgotten beyond `capacity`. */
export const createIdempotency = ({ capacity }: { readonly capacity: number }): Idempotency => {
  const entries = new Map<string, Entry>();

  const once = async <T>(call: Call | null, work: () => Promise<T>): Promise<T> => {
    if (call === null) return work();
    const bodyHash = hashOf(call);
    for (let earlier = entries.get(call.key); earlier; earlier = entries.get(call.key)) {
      if (earlier.bodyHash !== bodyHash)
        throw new ProblemError(
          "IDEMPOTENCY_CONFLICT",
          "This Idempotency-Key came with another request: use a new key for a new request.",
        );
      const answered = await earlier.answer.then(
        (answer) => ({ answer: answer as T }),
        () => null, // forgotten: below
      );
      if (answered) return answered.answer;
    }
    const answer = work();
    // Before anybody else hears of the failure.
    const told = answer.catch((error: unknown) => {
      entries.delete(call.key);
      throw error;
    });
    entries.set(call.key, { bodyHash, answer: told });
    const [oldest] = entries.keys();
    if (entries.size > capacity && oldest !== undefined) entries.delete(oldest);
    return told;
  };

  return { once };
};

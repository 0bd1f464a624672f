import type { Clock } from "../../common/clock.js";
import { codeOf, ImprintError, type Log } from "../../common/error.js";

const FULL = ["ENOSPC", "EDQUOT", "EFBIG"];

/** Of servers that speak S3 and have an end. */
const FULL_STORES = ["XMinioStorageFull", "XMinioAdminBucketQuotaExceeded", "QuotaExceeded", "InsufficientStorage"];

/** What an object store answered: how its client's errors look. Null for errors of others, and where there was no answer. */
const answerOf = (error: unknown): { readonly status: number; readonly name: string } | null => {
  if (!(error instanceof Error && "$metadata" in error)) return null;
  const { httpStatusCode: status } = error.$metadata as { readonly httpStatusCode?: number };
  if (status === undefined) return null;
  return { status, name: error.name === "Unknown" ? `HTTP ${status}` : error.name };
};

const isFull = (error: unknown): boolean => {
  const answer = answerOf(error);
  return FULL.includes(codeOf(error) ?? "") || (answer !== null && (answer.status === 507 || FULL_STORES.includes(answer.name)));
};

/** An object store that gave no answer, or none that can be used: asking again may help. A folder's errors are none of these. */
export const isUnreachable = (error: unknown): boolean => {
  const answer = answerOf(error);
  if (answer !== null) return (answer.status >= 500 || answer.status === 429) && !isFull(error);
  return /^(ECONN[A-Z]+|EPIPE|ETIMEDOUT|ENOTFOUND|EAI_AGAIN|EHOST[A-Z]+|ENET[A-Z]+|ERR_STREAM_PREMATURE_CLOSE)$/.test(
    codeOf(error) ?? "",
  );
};

/** What the shared storage says, as the job's failure. */
export const storageError = (error: unknown): unknown => {
  const code = answerOf(error)?.name ?? codeOf(error) ?? "";
  if (isFull(error))
    return new ImprintError("DISK_FULL", `The shared storage is full (${code}).`, {
      hint: "Free space on the shared storage, and try again.",
      cause: error,
    });
  const fromStore = error instanceof Error && ("$metadata" in error || error.name === "CredentialsProviderError");
  if (fromStore || isUnreachable(error))
    return new ImprintError("STORAGE_FAILED", `The shared storage cannot be used (${code || (error as Error).name}).`, {
      hint: "Look at the bucket, its address and the credentials: docs/ray.md says what they must allow.",
      cause: error,
    });
  if (/^E[A-Z]+$/.test(code))
    return new ImprintError("STORAGE_FAILED", `The shared storage cannot be used (${code}).`, { cause: error });
  return error;
};

interface Patience {
  readonly signal: AbortSignal;
  readonly askMs: number;
  readonly limits: { readonly patienceMs: number };
  readonly clock: Clock;
  readonly log: Log;
}

/** Unreachable is not failed: what can be done twice is tried again while an object store does not answer, as long as a cluster is asked. */
export const whileUnreachable = async <T>(act: () => Promise<T>, { signal, askMs, limits, clock, log }: Patience): Promise<T> => {
  const begun = clock.elapsed();
  for (;;) {
    try {
      return await act();
    } catch (err) {
      if (!isUnreachable(err) || signal.aborted || clock.elapsed() - begun >= limits.patienceMs) throw err;
      log.warn({ err }, "the shared storage does not answer; it is asked again");
      await pause(clock, askMs, signal);
    }
  }
};

/** Resolves after that time, or when the signal aborts. */
export const pause = (clock: Clock, ms: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const done = (): void => {
      disarm();
      signal.removeEventListener("abort", done);
      resolve();
    };
    const disarm = clock.after(ms, done);
    signal.addEventListener("abort", done);
  });

import { ApiError, ConnectionError, type ImprintError, TimeoutError } from "../errors.js";

const FIRST_DELAY_MS = 500;
const LONGEST_DELAY_MS = 8_000;
/** A service that asks for more patience than this is answered with its error. */
const LONGEST_RETRY_AFTER_MS = 60_000;

/** Whether the same request may be sent again. Where it may have been done already, only if doing it again changes nothing: a 429 says that it was not. */
export function isRetryable(error: ImprintError, repeatable: boolean): boolean {
  // The service waited for minutes already; asked again, it would wait as long.
  if (error instanceof ApiError && error.code === "DEADLINE_EXCEEDED") return false;
  if (error instanceof ApiError) return error.status === 429 || (error.status === 503 && repeatable);
  if (error instanceof TimeoutError) return false;
  return error instanceof ConnectionError && repeatable;
}

/** Milliseconds before attempt `attempt + 1` (from 0): what the service asked for, else doubling with up to a quarter taken off at random. */
export function retryDelay(attempt: number, retryAfter: string | null, random: () => number): number | null {
  const asked = retryAfter === null ? Number.NaN : Number(retryAfter) * 1000;
  if (asked >= 0) return asked <= LONGEST_RETRY_AFTER_MS ? asked : null;
  return Math.min(LONGEST_DELAY_MS, FIRST_DELAY_MS * 2 ** attempt) * (1 - 0.25 * random());
}

import { AbortError, apiError, ConnectionError, type ImprintError } from "../errors.js";
import type { ClientOptions, Runtime } from "./options.js";
import { isRetryable, retryDelay } from "./retry.js";
import type { Call, Transport } from "./transport.js";

export const DEFAULT_TIMEOUT_MS = 60_000;
export const DEFAULT_MAX_RETRIES = 2;

/** Sends a call and answers with the parsed body. Throws an ImprintError. */
export type Send = <T>(call: Call) => Promise<T>;

interface Answer {
  readonly status: number;
  readonly value: unknown;
  readonly error: ImprintError | null;
  readonly retryAfter: string | null;
}

export async function read(response: Response): Promise<Answer> {
  const text = await response.text();
  const retryAfter = response.headers.get("retry-after");
  let value: unknown;
  try {
    value = text === "" ? undefined : JSON.parse(text);
  } catch {
    const error = response.ok
      ? new ConnectionError("The answer is not JSON: is this address an Imprint service?")
      : apiError(response.status, null);
    return { status: response.status, value: undefined, error, retryAfter };
  }
  return { status: response.status, value, error: response.ok ? null : apiError(response.status, value), retryAfter };
}

/** Calls that are answered at once: retries and errors in one place. */
export function createSend(transport: Transport, options: ClientOptions, runtime: Runtime): Send {
  async function attempt(call: Call): Promise<Answer> {
    const limit = AbortSignal.timeout(call.options?.timeoutMs ?? options.timeoutMs ?? DEFAULT_TIMEOUT_MS);
    try {
      return await read(await transport.fetch(call, limit));
    } catch (cause) {
      return { status: 0, value: undefined, error: transport.lost(call, cause, limit), retryAfter: null };
    }
  }

  return async <T>(call: Call): Promise<T> => {
    const retries = call.options?.maxRetries ?? options.maxRetries ?? DEFAULT_MAX_RETRIES;
    const repeatable = call.method !== "POST" || call.idempotencyKey !== undefined || call.repeatable === true;
    for (let tried = 0; ; tried += 1) {
      const { status, value, error, retryAfter } = await attempt(call);
      if (error === null) {
        call.onStatus?.(status);
        return value as T;
      }
      const delay = tried < retries && isRetryable(error, repeatable) ? retryDelay(tried, retryAfter, runtime.random) : null;
      if (delay === null) throw error;
      await runtime.sleep(delay, call.options?.signal).catch((cause) => {
        throw new AbortError("The call was aborted", { cause });
      });
    }
  };
}

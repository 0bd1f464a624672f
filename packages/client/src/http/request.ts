import { AbortError, apiError, ConnectionError, type ImprintError, TimeoutError } from "../errors.js";
import type { CallOptions, ClientOptions, Runtime } from "./options.js";
import { isRetryable, retryDelay } from "./retry.js";

export const DEFAULT_BASE_URL = "http://127.0.0.1:7878";
const DEFAULT_TIMEOUT_MS = 60_000;
const DEFAULT_MAX_RETRIES = 2;

export interface Call {
  readonly method: "GET" | "POST" | "PATCH" | "DELETE";
  readonly path: string;
  readonly query?: Readonly<Record<string, string | number | undefined>>;
  /** Sent as JSON. */
  readonly json?: unknown;
  /** Sent as it is. */
  readonly body?: { readonly content: string | Uint8Array; readonly type: string };
  readonly idempotencyKey?: string;
  /** A POST that may be sent twice without harm although it has no key. */
  readonly repeatable?: boolean;
  /** Told the status of the answer that counts. */
  readonly onStatus?: (status: number) => void;
  readonly options?: CallOptions | undefined;
}

/** Sends a call and answers with the parsed body. Throws an ImprintError. */
export type Send = <T>(call: Call) => Promise<T>;

interface Answer {
  readonly status: number;
  readonly value: unknown;
  readonly error: ImprintError | null;
  readonly retryAfter: string | null;
}

function urlOf(baseUrl: string, call: Call): string {
  const url = new URL(baseUrl.replace(/\/+$/, "") + call.path);
  for (const [key, value] of Object.entries(call.query ?? {})) {
    if (value !== undefined) url.searchParams.set(key, String(value));
  }
  return url.href;
}

function requestOf(call: Call, token: string | undefined): RequestInit {
  const headers: Record<string, string> = { accept: "application/json" };
  if (token !== undefined) headers.authorization = `Bearer ${token}`;
  if (call.idempotencyKey !== undefined) headers["idempotency-key"] = call.idempotencyKey;
  if (call.json !== undefined) {
    headers["content-type"] = "application/json";
    return { method: call.method, headers, body: JSON.stringify(call.json) };
  }
  if (call.body === undefined) return { method: call.method, headers };
  headers["content-type"] = call.body.type;
  return { method: call.method, headers, body: call.body.content as NonNullable<RequestInit["body"]> };
}

async function read(response: Response): Promise<Answer> {
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

/** One function that knows HTTP: every resource of the client is made from it. */
export function createSend(options: ClientOptions, runtime: Runtime): Send {
  const doFetch = options.fetch ?? globalThis.fetch;
  const baseUrl = options.baseUrl ?? DEFAULT_BASE_URL;

  async function attempt(call: Call): Promise<Answer> {
    const caller = call.options?.signal;
    const limit = AbortSignal.timeout(call.options?.timeoutMs ?? options.timeoutMs ?? DEFAULT_TIMEOUT_MS);
    const signal = caller ? AbortSignal.any([caller, limit]) : limit;
    try {
      return await read(await doFetch(urlOf(baseUrl, call), { ...requestOf(call, options.token), signal, redirect: "error" }));
    } catch (cause) {
      const error = caller?.aborted
        ? new AbortError("The call was aborted", { cause })
        : limit.aborted
          ? new TimeoutError(`${call.method} ${call.path} took too long: raise timeoutMs`, { cause })
          : new ConnectionError(`No answer from ${baseUrl}: is the service running? imprint serve starts it`, { cause });
      return { status: 0, value: undefined, error, retryAfter: null };
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

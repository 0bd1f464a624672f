import { isObject, type JoinedSignal, joinSignals } from "@imprint/contracts";
import { AbortError, ConnectionError, type ImprintError, TimeoutError } from "../errors.js";
import type { CallOptions, ClientOptions } from "./options.js";

export const DEFAULT_BASE_URL = "http://127.0.0.1:7878";

/** A body as it is. A function is read piece by piece, anew for each attempt; browsers take a `Blob` for that. */
export type Content = string | Uint8Array | Blob | (() => AsyncIterable<Uint8Array>);

export interface Call {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  readonly path: string;
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON. */
  readonly json?: unknown;
  /** Sent as it is. */
  readonly body?: { readonly content: Content; readonly type: string };
  readonly idempotencyKey?: string;
  /** A POST that may be sent twice without harm although it has no key. */
  readonly repeatable?: boolean;
  /** Told the status of the answer that counts. */
  readonly onStatus?: (status: number) => void;
  readonly options?: CallOptions | undefined;
}

/** How a call reaches the service. */
export interface Transport {
  /** One attempt, until the caller's signal or `limit` aborts; the answer may be a refusal. */
  fetch(call: Call, limit: AbortSignal): Promise<Response>;
  /** What to throw for an attempt that brought no whole answer; `limit` aborts when it took too long. */
  lost(call: Call, cause: unknown, limit: AbortSignal): ImprintError;
}

function urlOf(baseUrl: string, call: Call): string {
  const url = new URL(baseUrl.replace(/\/+$/, "") + call.path);
  for (const [key, value] of Object.entries(call.query ?? {})) {
    if (value !== undefined) url.searchParams.set(key, String(value));
  }
  return url.href;
}

function requestOf(call: Call, token: string | undefined): RequestInit {
  const headers: Record<string, string> = { accept: "application/json", ...call.headers };
  if (token !== undefined) headers.authorization = `Bearer ${token}`;
  if (call.idempotencyKey !== undefined) headers["idempotency-key"] = call.idempotencyKey;
  if (call.json !== undefined) {
    headers["content-type"] = "application/json";
    return { method: call.method, headers, body: JSON.stringify(call.json) };
  }
  if (call.body === undefined) return { method: call.method, headers };
  const { content, type } = call.body;
  headers["content-type"] = type;
  if (typeof content !== "function") return { method: call.method, headers, body: content as NonNullable<RequestInit["body"]> };
  // Node's fetch takes any iterable; `duplex` is required of bodies that are streams, and unknown to the DOM's types.
  const streamed = { body: content() as unknown as ReadableStream, duplex: "half" } as const;
  return { method: call.method, headers, ...streamed };
}

/** The answer with a body that breaks off when the signal aborts: Node 20's fetch forgets its signal at a garbage collection once there are headers. */
function abortable(response: Response, { signal, release }: JoinedSignal): Response {
  const { body, status } = response;
  if (body === null || status === 204) {
    release();
    return response;
  }
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
  void body.pipeTo(writable, { signal }).then(release, release); // what went wrong is told to whoever reads
  return new Response(readable, response);
}

/** Whether Node's own limit for an answer to begin, 300 seconds, ended the call. */
const hasRunOut = (error: unknown): boolean =>
  error instanceof Error && isObject(error.cause) && error.cause.code === "UND_ERR_HEADERS_TIMEOUT";

export function createTransport(options: ClientOptions): Transport {
  const doFetch = options.fetch ?? globalThis.fetch;
  const baseUrl = options.baseUrl ?? DEFAULT_BASE_URL;
  return {
    fetch: async (call, limit) => {
      const joined = joinSignals([call.options?.signal, limit]);
      try {
        const init = { ...requestOf(call, options.token), signal: joined.signal, redirect: "error" } as const;
        return abortable(await doFetch(urlOf(baseUrl, call), init), joined);
      } catch (cause) {
        joined.release();
        throw cause;
      }
    },
    lost: (call, cause, limit) => {
      if (call.options?.signal?.aborted) return new AbortError("The call was aborted", { cause });
      if (hasRunOut(cause))
        return new TimeoutError(
          `${call.method} ${call.path} was not answered in the five minutes that Node's fetch waits: ask for less, or, of a chat, for a stream`,
          { cause },
        );
      if (limit.aborted) return new TimeoutError(`${call.method} ${call.path} took too long: raise timeoutMs`, { cause });
      return new ConnectionError(`No answer from ${baseUrl}: is the service running? imprint serve starts it`, { cause });
    },
  };
}

import { request as httpRequest, type IncomingMessage } from "node:http";
import { request as httpsRequest } from "node:https";
import { type ErrorCode, isObject, withSignals } from "@imprint/contracts";
import { createParser } from "eventsource-parser";
import { ImprintError } from "../../common/error.js";
import type { Upstream } from "../../config/upstream.js";
import { FROM_SERVICE } from "../../runners/served.js";

/** A stream that says nothing for as long is broken: servers that have nothing to say yet send comments, or are slower than any client waits. */
const SILENCE_MS = 600_000;
/** Of an answer that is no stream: lists of models and the like. */
const MAX_BYTES = 16 * 1024 * 1024;
/** Characters of one event of a stream: a call's arguments may come whole. */
const MAX_EVENT = 4 * 1024 * 1024;
/** How often TCP asks whether the other side is still there. */
const PROBE_MS = 15_000;

interface Sent {
  readonly path: string;
  /** GET without one. */
  readonly body?: object;
  readonly signal?: AbortSignal | undefined;
}

/** What is asked of another server. Rejects with ImprintError, or with the signal's reason. Redirects are not followed: the token is for one host. */
export interface UpstreamHttp {
  /** What it answers, as JSON, or as text where it is none. */
  ask(sent: Sent & { readonly limitMs: number }): Promise<unknown>;
  /** The data of its server-sent events, without the `[DONE]` at their end. Throws where the connection ends before it. */
  follow(sent: Sent): AsyncGenerator<string, void>;
}

const SHOWN = 600; // characters of what an upstream says

/** A server that may be there again in a while. `cause` is what Node says: no header, no token. */
const unreachable = (host: string, cause: unknown): ImprintError => {
  const code = cause instanceof Error && "code" in cause ? String(cause.code) : cause instanceof Error ? cause.message : "";
  return new ImprintError("UPSTREAM_UNREACHABLE", `${host} does not answer (${code}).`, { cause });
};

interface Refusal {
  readonly status: number;
  readonly body: unknown;
  readonly retryAfter?: string | undefined;
}

/**
 * What a server says is wrong: OpenAI's `{error: {message}}`, vLLM's older `{message}`, FastAPI's `{detail}`, SGLang's
 * `{error_message}`, or text.
 */
const said = (body: unknown): string => {
  const error = isObject(body) ? (body.error ?? body) : body;
  const found = isObject(error) ? (error.message ?? error.error_message ?? error.detail) : error;
  const text = typeof found === "string" ? found : JSON.stringify(found ?? "");
  return text.length > SHOWN ? `${text.slice(0, SHOWN)}...` : text;
};

const number = (value: unknown): number | null => (typeof value === "number" && Number.isInteger(value) ? value : null);

/**
 * A prompt that does not fit, in the words that agents look for; null for another refusal. llama-server says numbers
 * (`exceed_context_size_error`), OpenAI a code, vLLM and SGLang a sentence.
 */
const overflow = (body: unknown, text: string): string | null => {
  const error = isObject(body) && isObject(body.error) ? body.error : isObject(body) ? body : {};
  const sentence = /maximum context length (?:is|of) (\d+)|context length \((\d+)|longer than the model'?s context/i.exec(text);
  const known = error.code === "context_length_exceeded" || error.type === "exceed_context_size_error" || sentence !== null;
  if (!known) return null;
  const most = number(error.n_ctx) ?? Number(sentence?.[1] ?? sentence?.[2] ?? Number.NaN);
  const asked = number(error.n_prompt_tokens);
  const limit = Number.isNaN(most) ? "" : ` This model's maximum context length is ${most} tokens.`;
  const lengths = asked === null || Number.isNaN(most) ? "" : `: ${asked} tokens > ${most - 1} maximum`;
  return `The prompt is too long${lengths}.${limit} ${text}`;
};

const codeOf = (status: number): ErrorCode => {
  if (status === 401 || status === 403) return "UPSTREAM_UNAUTHORIZED";
  if (status === 429) return "UPSTREAM_BUSY";
  if (status === 404) return "NOT_FOUND";
  // Behind a proxy the server itself is away.
  if (status === 502 || status === 503 || status === 504) return "UPSTREAM_UNREACHABLE";
  return status >= 400 && status < 500 ? "PROMPT_REFUSED" : "UPSTREAM_FAILED";
};

/** An answer that is no good one as an error of the catalogue, in the upstream's own words. */
const refusalOf = (host: string, { status, body, retryAfter }: Refusal): ImprintError => {
  const text = said(body);
  const tooLong = status === 400 || status === 413 || status === 422 ? overflow(body, text) : null;
  if (tooLong !== null) return new ImprintError("CONTEXT_LENGTH_EXCEEDED", tooLong);
  const seconds = /^\d{1,6}$/.test(retryAfter ?? "") ? Number(retryAfter) : null;
  return new ImprintError(codeOf(status), `${host} answers ${status}: ${text}`, { retryAfter: seconds });
};

/** An error object in the middle of a stream. */
export const brokenOff = (host: string, error: unknown): ImprintError => {
  const text = said({ error });
  const tooLong = overflow({ error }, text);
  return tooLong === null
    ? new ImprintError("UPSTREAM_FAILED", `${host} broke its answer off: ${text}`)
    : new ImprintError("CONTEXT_LENGTH_EXCEEDED", tooLong);
};

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
};

export const createUpstreamHttp = ({ url, host, token }: Pick<Upstream, "url" | "host" | "token">): UpstreamHttp => {
  const send = url.startsWith("https:") ? httpsRequest : httpRequest;

  const open = ({ path, body, signal }: Sent): Promise<IncomingMessage> =>
    new Promise((resolve, reject) => {
      const text = body === undefined ? undefined : JSON.stringify(body);
      const headers = {
        accept: "application/json, text/event-stream",
        [FROM_SERVICE]: "1",
        ...(token !== null && { authorization: `Bearer ${token}` }),
        ...(text !== undefined && { "content-type": "application/json", "content-length": Buffer.byteLength(text) }),
      };
      const attempt = (again: boolean): void => {
        const asked = send(`${url}${path}`, { method: text === undefined ? "GET" : "POST", headers, ...(signal && { signal }) });
        asked.setSocketKeepAlive(true, PROBE_MS);
        asked.setTimeout(SILENCE_MS, () => asked.destroy(new Error("no answer for ten minutes")));
        asked.on("response", resolve);
        asked.on("error", (cause) => {
          if (signal?.aborted) return reject(signal.reason);
          // A kept connection that the server closed meanwhile: nothing of the request was read.
          if (asked.reusedSocket && "code" in cause && cause.code === "ECONNRESET" && again) return attempt(false);
          reject(unreachable(host, cause));
        });
        asked.end(text);
      };
      attempt(true);
    });

  const whole = async (response: IncomingMessage): Promise<string> => {
    response.setEncoding("utf8");
    let text = "";
    for await (const piece of response) {
      text += piece;
      if (text.length > MAX_BYTES) throw new ImprintError("UPSTREAM_FAILED", `${host} answers more than 16 MiB.`);
    }
    return text;
  };

  /** The response, where it is a good one. */
  const good = async (sent: Sent): Promise<IncomingMessage> => {
    const response = await open(sent);
    const { statusCode = 0, headers } = response;
    if (statusCode >= 200 && statusCode < 300) return response;
    const text = await whole(response).catch(() => "");
    throw refusalOf(host, { status: statusCode, body: parsed(text), retryAfter: headers["retry-after"] });
  };

  return {
    ask: async ({ limitMs, signal, ...sent }) => {
      const limit = AbortSignal.timeout(limitMs);
      try {
        return parsed(await withSignals([signal, limit], async (either) => whole(await good({ ...sent, signal: either }))));
      } catch (error) {
        if (signal?.aborted) throw signal.reason;
        if (limit.aborted) throw unreachable(host, new Error(`no answer in ${limitMs / 1000} seconds`));
        throw error instanceof ImprintError ? error : unreachable(host, error);
      }
    },
    async *follow(sent) {
      const response = await good(sent);
      let told: string[] = [];
      let done = false;
      const parser = createParser({
        onEvent: ({ data }) => {
          if (data === "[DONE]") done = true;
          else told.push(data);
        },
        maxBufferSize: MAX_EVENT,
        onError: ({ type }) => {
          if (type === "max-buffer-size-exceeded")
            throw new ImprintError("UPSTREAM_FAILED", `${host} sends an event of more than 4 MiB.`);
        },
      });
      response.setEncoding("utf8");
      try {
        for await (const piece of response) {
          parser.feed(piece);
          const events = told;
          told = [];
          yield* events;
          if (done) return;
        }
      } catch (cause) {
        if (sent.signal?.aborted) throw sent.signal.reason;
        if (cause instanceof ImprintError) throw cause;
        throw new ImprintError("UPSTREAM_FAILED", `${host} broke its answer off.`, { cause });
      } finally {
        response.destroy();
      }
    },
  };
};

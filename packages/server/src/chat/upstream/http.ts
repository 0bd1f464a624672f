import { request as httpRequest, type IncomingMessage } from "node:http";
import { request as httpsRequest } from "node:https";
import { createParser } from "eventsource-parser";
import { ImprintError } from "../../common/error.js";
import type { Upstream } from "../../config/upstream.js";
import { FROM_SERVICE } from "../../runners/served.js";
import { refusalOf, unreachable } from "./refusals.js";

/** A stream that says nothing for as long is broken: servers that have nothing to say yet send comments, or are slower than any client waits. */
const SILENCE_MS = 600_000;
/** Of an answer that is no stream: lists of models and the like. */
const MAX_BYTES = 16 * 1024 * 1024;
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
      const either = signal ? AbortSignal.any([signal, limit]) : limit;
      try {
        return parsed(await whole(await good({ ...sent, signal: either })));
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
        throw new ImprintError("UPSTREAM_FAILED", `${host} broke its answer off.`, { cause });
      } finally {
        response.destroy();
      }
    },
  };
};

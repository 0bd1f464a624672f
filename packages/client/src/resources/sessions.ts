import type {
  ImportResult,
  Outcome,
  PreviewReport,
  PreviewRequest,
  SessionFormat,
  SessionList,
  SessionSummary,
} from "@imprint/contracts";
import type { CallOptions } from "../http/options.js";
import type { Send } from "../http/request.js";

export interface SessionQuery {
  readonly limit?: number;
  /** The `next` of the page before. */
  readonly after?: string;
}

export interface CreateOptions extends CallOptions {
  /** Default: recognised from the content. */
  readonly format?: SessionFormat;
  /** How the session ended, where the file does not say it. */
  readonly outcome?: Outcome;
  /** Default: `application/json`, `application/x-ndjson`, `text/markdown` or `application/zstd` by how the content begins. */
  readonly contentType?: string;
}

export interface Sessions {
  /** Stores a recorded session: the file as the agent wrote it. The same bytes again give the same id, and `created` false. */
  create(file: string | Uint8Array, options?: CreateOptions): Promise<ImportResult & { readonly created: boolean }>;
  list(query?: SessionQuery, options?: CallOptions): Promise<SessionList>;
  get(sessionId: string, options?: CallOptions): Promise<SessionSummary>;
  /** Says how a stored session ended. Failed sessions are not trained on unless a request includes them. */
  label(sessionId: string, outcome: Outcome, options?: CallOptions): Promise<SessionSummary>;
  delete(sessionId: string, options?: CallOptions): Promise<void>;
  /** What a training on this session would learn from, from the code that trains. Loads the tokenizer. */
  preview(sessionId: string, request?: PreviewRequest, options?: CallOptions): Promise<PreviewReport>;
}

export const PREVIEW_TIMEOUT_MS = 300_000;
const ZSTD_MAGIC = [0x28, 0xb5, 0x2f, 0xfd];

/** Characters or bytes in which content shows after white space. */
const HEAD = 4096;

const isJson = (text: string): boolean => {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
};

/**
 * The content type that a session's beginning calls for. No more than its first line with content is parsed: a log may be
 * large, and the service reads JSON and JSON lines alike.
 */
export function contentTypeOf(file: string | Uint8Array): string {
  if (typeof file !== "string" && ZSTD_MAGIC.every((byte, index) => file[index] === byte)) return "application/zstd";
  const text = (start: number, end: number): string =>
    typeof file === "string" ? file.slice(start, end) : new TextDecoder().decode(file.subarray(start, end));
  const head = text(0, HEAD);
  if (!/^\s*[{[]/.test(head)) return "text/markdown";
  const start = head.search(/\S/);
  const end = typeof file === "string" ? file.indexOf("\n", start) : file.indexOf(0x0a, start);
  const isFollowed = end >= 0 && /\S/.test(text(end, end + HEAD));
  return isFollowed && isJson(text(0, end)) ? "application/x-ndjson" : "application/json";
}

export function sessionsResource(send: Send): Sessions {
  const pathOf = (sessionId: string, rest = ""): string => `/sessions/${encodeURIComponent(sessionId)}${rest}`;
  return {
    create: async (content, { format, outcome, contentType, ...options } = {}) => {
      let created = false;
      const result = await send<ImportResult>({
        method: "POST",
        path: "/sessions",
        query: { format, outcome },
        body: { content, type: contentType ?? contentTypeOf(content) },
        repeatable: true,
        onStatus: (status) => {
          created = status === 201;
        },
        options,
      });
      return { ...result, created };
    },
    list: (query, options) => send({ method: "GET", path: "/sessions", query: { ...query }, options }),
    get: (sessionId, options) => send({ method: "GET", path: pathOf(sessionId), options }),
    label: (sessionId, outcome, options) =>
      send({ method: "PATCH", path: pathOf(sessionId), json: { outcome }, repeatable: true, options }),
    delete: async (sessionId, options) => {
      await send({ method: "DELETE", path: pathOf(sessionId), options });
    },
    preview: (sessionId, request = {}, options) =>
      send({
        method: "POST",
        path: pathOf(sessionId, "/preview"),
        json: request,
        repeatable: true,
        options: { timeoutMs: PREVIEW_TIMEOUT_MS, ...options },
      }),
  };
}

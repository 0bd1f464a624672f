import type {
  ImportResult,
  Outcome,
  PreviewReport,
  PreviewRequest,
  Session,
  SessionFormat,
  SessionList,
  SessionSummary,
} from "@imprint/contracts";
import type { CallOptions } from "../http/options.js";
import type { Send } from "../http/request.js";
import type { Content } from "../http/transport.js";

export interface SessionQuery {
  readonly limit?: number;
  /** The `next` of the page before. */
  readonly after?: string;
  /** What the id begins with. */
  readonly prefix?: string;
  /** Words that the id, the format, the outcome, the repository, the folder, the branch, the model or the task must have, all of them. */
  readonly search?: string;
  readonly repository?: string;
  /** Where it was recorded: in it, or below. */
  readonly folder?: string;
  readonly branch?: string;
  readonly model?: string;
  readonly format?: SessionFormat;
  /** What a person or the file says, else what the session shows. */
  readonly outcome?: Outcome;
  /** Days of UTC, `YYYY-MM-DD`, on or after which and until whose end it was recorded. */
  readonly since?: string;
  readonly until?: string;
  /** Whether an adapter was trained on it that is not archived. */
  readonly trained?: boolean;
}

export interface CreateOptions extends CallOptions {
  /** Default: recognised from the content. */
  readonly format?: SessionFormat;
  /** How the session ended, where the file does not say it. */
  readonly outcome?: Outcome;
  /** Where it was recorded, if the file does not say so. */
  readonly folder?: string;
  /** Default: `application/json`, `application/x-ndjson`, `text/markdown` or `application/zstd` by how the content begins. */
  readonly contentType?: string;
}

export interface Sessions {
  /**
   * Stores a recorded session: the file as the agent wrote it. A browser's `File` is sent piece by piece, and so is what
   * `() => createReadStream(path)` reads. The same bytes again give the same id, and `created` false.
   */
  create(file: Content, options?: CreateOptions): Promise<ImportResult & { readonly created: boolean }>;
  list(query?: SessionQuery, options?: CallOptions): Promise<SessionList>;
  get(sessionId: string, options?: CallOptions): Promise<SessionSummary>;
  /** The session itself: canonical, redacted, as trainings read it. */
  content(sessionId: string, options?: CallOptions): Promise<Session>;
  /** Says how a stored session ended. Failed sessions are not trained on unless a request includes them. */
  label(sessionId: string, outcome: Outcome, options?: CallOptions): Promise<SessionSummary>;
  delete(sessionId: string, options?: CallOptions): Promise<void>;
  /** What a training on this session would learn from, from the code that trains. Loads the tokenizer. */
  preview(sessionId: string, request?: PreviewRequest, options?: CallOptions): Promise<PreviewReport>;
}

export const PREVIEW_TIMEOUT_MS = 300_000;
const CONTENT_TIMEOUT_MS = 120_000;
/** A large recording takes the service some seconds for each 100 MB. */
const UPLOAD_TIMEOUT_MS = 600_000;
const ZSTD_MAGIC = [0x28, 0xb5, 0x2f, 0xfd];

/** Bytes (or characters) that tell the content type. */
const HEAD = 64 * 1024;

const isJson = (text: string): boolean => {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
};

async function headOf(file: Content): Promise<string | Uint8Array> {
  if (file instanceof Blob) return new Uint8Array(await file.slice(0, HEAD).arrayBuffer());
  if (typeof file !== "function") return file.slice(0, HEAD);
  for await (const piece of file()) if (piece.length > 0) return piece.slice(0, HEAD);
  return "";
}

/** The content type that a session's beginning calls for. The service reads JSON and JSON lines alike, so a long first line may pass for either. */
async function contentTypeOf(file: Content): Promise<string> {
  const head = await headOf(file);
  if (typeof head !== "string" && ZSTD_MAGIC.every((byte, index) => head[index] === byte)) return "application/zstd";
  const text = (typeof head === "string" ? head : new TextDecoder().decode(head)).trimStart();
  if (!/^[{[]/.test(text)) return "text/markdown";
  const [first = "", ...rest] = text.split("\n");
  return rest.join("").trim() !== "" && isJson(first) ? "application/x-ndjson" : "application/json";
}

export function sessionsResource(send: Send): Sessions {
  const pathOf = (sessionId: string, rest = ""): string => `/sessions/${encodeURIComponent(sessionId)}${rest}`;
  return {
    create: async (content, { format, outcome, folder, contentType, ...options } = {}) => {
      let created = false;
      const result = await send<ImportResult>({
        method: "POST",
        path: "/sessions",
        query: { format, outcome, folder },
        body: { content, type: contentType ?? (await contentTypeOf(content)) },
        repeatable: true,
        onStatus: (status) => {
          created = status === 201;
        },
        options: { timeoutMs: UPLOAD_TIMEOUT_MS, ...options },
      });
      return { ...result, created };
    },
    list: (query, options) => send({ method: "GET", path: "/sessions", query: { ...query }, options }),
    get: (sessionId, options) => send({ method: "GET", path: pathOf(sessionId), options }),
    content: (sessionId, options) =>
      send({ method: "GET", path: pathOf(sessionId, "/content"), options: { timeoutMs: CONTENT_TIMEOUT_MS, ...options } }),
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

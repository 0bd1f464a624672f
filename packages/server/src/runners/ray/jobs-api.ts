import { type Static, type TSchema, Type } from "typebox";
import { matches } from "../../common/matches.js";
import { withoutPaths } from "../local/readable.js";

/** What is read of a job's details; Ray says more, and more with every version. Recorded in test/fixtures/ray/answers.json. */
const EngineJob = Type.Object({
  submission_id: Type.Union([Type.String(), Type.Null()]),
  status: Type.Union([
    Type.Literal("PENDING"),
    Type.Literal("RUNNING"),
    Type.Literal("STOPPED"),
    Type.Literal("SUCCEEDED"),
    Type.Literal("FAILED"),
  ]),
  message: Type.Optional(Type.Union([Type.String(), Type.Null()])),
  error_type: Type.Optional(Type.Union([Type.String(), Type.Null()])),
});
export type EngineJob = Static<typeof EngineJob>;
const Stopped = Type.Object({ stopped: Type.Boolean() });
const Submitted = Type.Object({ submission_id: Type.String() });
const Logs = Type.Object({ logs: Type.Union([Type.String(), Type.Null()]) });

/** `refused`: asking again does not help. `unreachable`: no answer that can be used, for now. */
export type Reply<Value> =
  | { readonly type: "ok"; readonly value: Value }
  | { readonly type: "missing" }
  | { readonly type: "exists" }
  | { readonly type: "refused"; readonly why: string }
  | { readonly type: "unreachable"; readonly why: string };

export interface Submission {
  readonly submission_id: string;
  readonly entrypoint: string;
  readonly runtime_env: { readonly env_vars: Readonly<Record<string, string>> };
  readonly metadata: Readonly<Record<string, string>>;
  readonly entrypoint_num_cpus: number;
  readonly entrypoint_num_gpus?: number;
  readonly entrypoint_memory?: number;
}

/** Ray's Jobs REST API. Nothing here rejects. */
export interface JobsApi {
  submit(submission: Submission): Promise<Reply<unknown>>;
  status(submission_id: string): Promise<Reply<EngineJob>>;
  stop(submission_id: string): Promise<Reply<unknown>>;
  list(): Promise<Reply<readonly EngineJob[]>>;
  /** The end of what the engine kept of a job's output. */
  logTail(submission_id: string): Promise<Reply<string>>;
}

interface JobsApiOptions {
  /** Such as http://head:8265 */
  readonly address: string;
  readonly token: string | null;
  readonly timeoutMs?: number;
}

const TIMEOUT_MS = 10_000;
const MAX_BYTES = 32 * 1024 * 1024;
const LOG_TAIL = 4000;
const WHY_CHARACTERS = 300;

/** The last line that says something: answers to errors are Python's tracebacks as text. */
export const lastLine = (text: string): string => {
  const lines = text.split("\n").map((line) => line.trim());
  const found = lines.filter((line) => /[A-Za-z0-9]/.test(line)).at(-1) ?? "it gave no reason";
  return withoutPaths(found).slice(0, WHY_CHARACTERS);
};

const textOf = async (response: Response): Promise<string> => {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const part of response.body ?? []) {
    bytes += part.length;
    if (bytes > MAX_BYTES) throw new Error("its answer is too long");
    parts.push(part);
  }
  return Buffer.concat(parts).toString("utf8");
};

const causeOf = (error: unknown): string => {
  if (!(error instanceof Error)) return "it does not answer";
  const { cause } = error;
  const code = cause instanceof Error && "code" in cause ? String(cause.code) : "";
  return error.name === "TimeoutError" ? "it did not answer in time" : code || error.message;
};

export const createJobsApi = ({ address, token, timeoutMs = TIMEOUT_MS }: JobsApiOptions): JobsApi => {
  const base = address.replace(/\/+$/, "");
  const headers = { "content-type": "application/json", ...(token !== null && { authorization: `Bearer ${token}` }) };

  const ask = async <T extends TSchema>(
    method: "GET" | "POST",
    path: string,
    schema: T,
    body?: object,
  ): Promise<Reply<Static<T>>> => {
    try {
      const response = await fetch(`${base}/api/jobs/${path}`, {
        method,
        headers,
        redirect: "error", // the token is for this address alone
        signal: AbortSignal.timeout(timeoutMs),
        ...(body && { body: JSON.stringify(body) }),
      });
      const text = await textOf(response);
      if (response.ok) {
        const value: unknown = JSON.parse(text);
        return matches(schema, value) ? { type: "ok", value } : { type: "unreachable", why: "its answer has another shape" };
      }
      if (response.status === 404) return { type: "missing" };
      if (/submission_id \S+ already exists/.test(text)) return { type: "exists" };
      const why = `${response.status}: ${lastLine(text)}`;
      return { type: response.status < 500 && response.status !== 429 ? "refused" : "unreachable", why };
    } catch (error) {
      return { type: "unreachable", why: causeOf(error) };
    }
  };

  const at = (id: string, rest = ""): string => `${encodeURIComponent(id)}${rest}`;
  return {
    submit: (submission) => ask("POST", "", Submitted, submission),
    status: (id) => ask("GET", at(id), EngineJob),
    stop: (id) => ask("POST", at(id, "/stop"), Stopped),
    list: () => ask("GET", "", Type.Array(EngineJob)),
    logTail: async (id) => {
      const reply = await ask("GET", at(id, "/logs"), Logs);
      return reply.type === "ok" ? { type: "ok", value: (reply.value.logs ?? "").slice(-LOG_TAIL) } : reply;
    },
  };
};

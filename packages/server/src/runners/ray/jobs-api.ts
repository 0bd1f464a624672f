import { type RequestOptions, request as requestPlainly } from "node:http";
import { request as requestOverTls } from "node:https";
import { matches } from "@imprint/contracts/fields";
import { type Static, type TSchema, Type } from "typebox";
import { withoutPaths } from "../local/worker-log.js";

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

interface Answer {
  readonly status: number;
  readonly text: string;
}

/** `fetch` would send what browsers send (sec-fetch-mode), and Ray refuses posts of browsers. Redirects are not followed: the token is for this address alone. */
export const exchange = (url: URL, options: RequestOptions, body?: string): Promise<Answer> =>
  new Promise((resolve, reject) => {
    const send = url.protocol === "https:" ? requestOverTls : requestPlainly;
    const request = send(url, options, (response) => {
      const parts: Buffer[] = [];
      let bytes = 0;
      response.on("data", (part: Buffer) => {
        bytes += part.length;
        if (bytes > MAX_BYTES) request.destroy(new Error("its answer is too long"));
        parts.push(part);
      });
      response.on("error", reject);
      response.on("end", () => resolve({ status: response.statusCode ?? 0, text: Buffer.concat(parts).toString("utf8") }));
    });
    request.on("error", reject);
    request.end(body);
  });

const causeOf = (error: unknown): string => {
  if (!(error instanceof Error)) return "it does not answer";
  if (error.name === "AbortError" || error.name === "TimeoutError") return "it did not answer in time";
  return "code" in error ? String(error.code) : error.message;
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
      const options = { method, headers, signal: AbortSignal.timeout(timeoutMs) };
      const { status, text } = await exchange(new URL(`${base}/api/jobs/${path}`), options, body && JSON.stringify(body));
      if (status === 200) {
        const value: unknown = JSON.parse(text);
        return matches(schema, value) ? { type: "ok", value } : { type: "unreachable", why: "its answer has another shape" };
      }
      if (status === 404) return { type: "missing" };
      if (/submission_id \S+ already exists/.test(text)) return { type: "exists" };
      const why = `${status}: ${lastLine(text)}`;
      return { type: status < 500 && status !== 429 ? "refused" : "unreachable", why };
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

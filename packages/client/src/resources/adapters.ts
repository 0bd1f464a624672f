import type {
  Adapter,
  AdapterList,
  AdapterSort,
  EvaluateRequest,
  Evaluation,
  Export,
  ExportFormat,
  StartResponse,
  TaskMeasurements,
  TaskReport,
} from "@imprint/contracts";
import type { Open } from "../http/open.js";
import type { CallOptions, Runtime, StartOptions } from "../http/options.js";
import type { Send } from "../http/request.js";

export interface AdapterQuery {
  readonly base_model?: string;
  readonly task_type?: string;
  readonly session_id?: string;
  readonly limit?: number;
  /** The `next` of the page before. */
  readonly after?: string;
  /** What the id begins with. */
  readonly prefix?: string;
  /** Words that the id, the base model, the kind of work or the sessions hold, all of them. */
  readonly search?: string;
  /** Default: created. */
  readonly sort?: AdapterSort;
}

export interface Adapters {
  /** Newest first unless sorted. */
  list(query?: AdapterQuery, options?: CallOptions): Promise<AdapterList>;
  get(adapterId: string, options?: CallOptions): Promise<Adapter>;
  /** One of the adapter's files, as `fetch` answers it: nothing is read yet. */
  file(adapterId: string, name: string, options?: CallOptions): Promise<Response>;
  /** Re-hashes the files and re-reads their headers; `health` of the answer says what was found. */
  verify(adapterId: string, options?: CallOptions): Promise<Adapter>;
  /** Hands it to what answers its chats. Rejects with ADAPTER_NOT_APPLIED where that answers as if it had no adapter. */
  serve(adapterId: string, options?: CallOptions): Promise<Adapter>;
  /** Starts an export: a job to wait for. One that is there already completes at once. */
  export(adapterId: string, format: ExportFormat, options?: StartOptions): Promise<StartResponse>;
  /** An export that is there, with its files. Throws a NotFoundError while there is none. */
  getExport(adapterId: string, format: ExportFormat, options?: CallOptions): Promise<Export>;
  /** One of the export's files, as `fetch` answers it: nothing is read yet. */
  exportFile(adapterId: string, format: ExportFormat, name: string, options?: CallOptions): Promise<Response>;
  /** Starts an evaluation on sessions that the adapter was not trained on: a job to wait for, whose `result` is the evaluation. */
  evaluate(adapterId: string, request?: EvaluateRequest, options?: StartOptions): Promise<StartResponse>;
  /** The last evaluation. Throws a NotFoundError while there is none. */
  evaluation(adapterId: string, options?: CallOptions): Promise<Evaluation>;
  /** What an agent solved with it. Throws a NotFoundError while nothing was measured. */
  tasks(adapterId: string, options?: CallOptions): Promise<TaskReport>;
  /** Keeps what was measured on tasks so far, in the place of what was kept before; the service says what it means. */
  putTasks(adapterId: string, measured: TaskMeasurements, options?: CallOptions): Promise<TaskReport>;
  /** Archives; with `purge` the files go too. */
  delete(adapterId: string, options?: CallOptions & { readonly purge?: boolean }): Promise<void>;
}

/** The service may have to read a hundred sessions to choose some. */
const EVALUATE_MS = 180_000;
/** A server may have to load the adapter. */
const SERVE_MS = 190_000;

export function adaptersResource(send: Send, open: Open, runtime: Runtime): Adapters {
  const pathOf = (adapterId: string, rest = ""): string => `/adapters/${encodeURIComponent(adapterId)}${rest}`;
  const file = (folder: string, name: string, options?: CallOptions): Promise<Response> =>
    open({ method: "GET", path: folder + encodeURIComponent(name), headers: { accept: "*/*" }, options });
  return {
    list: (query, options) => send({ method: "GET", path: "/adapters", query: { ...query }, options }),
    get: (adapterId, options) => send({ method: "GET", path: pathOf(adapterId), options }),
    file: (adapterId, name, options) => file(pathOf(adapterId, "/files/"), name, options),
    verify: (adapterId, options) => send({ method: "POST", path: pathOf(adapterId, "/verify"), repeatable: true, options }),
    serve: (adapterId, { timeoutMs = SERVE_MS, ...options } = {}) =>
      send({ method: "POST", path: pathOf(adapterId, "/serve"), repeatable: true, options: { ...options, timeoutMs } }),
    export: (adapterId, format, { idempotencyKey = runtime.newKey(), ...options } = {}) =>
      send({ method: "POST", path: pathOf(adapterId, "/export"), json: { format }, idempotencyKey, options }),
    getExport: (adapterId, format, options) => send({ method: "GET", path: pathOf(adapterId, `/exports/${format}`), options }),
    exportFile: (adapterId, format, name, options) => file(pathOf(adapterId, `/exports/${format}/files/`), name, options),
    evaluate: (adapterId, request = {}, { idempotencyKey = runtime.newKey(), timeoutMs = EVALUATE_MS, ...options } = {}) =>
      send({
        method: "POST",
        path: pathOf(adapterId, "/evaluate"),
        json: request,
        idempotencyKey,
        options: { ...options, timeoutMs },
      }),
    evaluation: (adapterId, options) => send({ method: "GET", path: pathOf(adapterId, "/evaluation"), options }),
    tasks: (adapterId, options) => send({ method: "GET", path: pathOf(adapterId, "/tasks"), options }),
    putTasks: (adapterId, measured, options) =>
      send({ method: "PUT", path: pathOf(adapterId, "/tasks"), json: measured, repeatable: true, options }),
    delete: async (adapterId, { purge, ...options } = {}) => {
      await send({ method: "DELETE", path: pathOf(adapterId), query: purge ? { purge: "true" } : {}, options });
    },
  };
}

import type { Project, ProjectEvent, ProjectList, ProjectRunRequest, ProjectRunStart, RollbackRequest } from "@imprint/contracts";
import type { EventOptions, EventStream, Subscribe } from "../events/subscribe.js";
import type { CallOptions, Runtime, StartOptions } from "../http/options.js";
import type { Send } from "../http/request.js";

export interface Projects {
  /** Newest first. */
  list(options?: CallOptions): Promise<ProjectList>;
  /** A project with its runs, newest first. */
  get(name: string, options?: CallOptions): Promise<Project>;
  /**
   * Trains on what is new, tests on the newest, and moves `NAME@latest` unless the adapter harms; makes the project at the first call.
   * `run` is null where there is nothing to train. Throws a ConflictError while a run goes on.
   */
  run(name: string, request?: ProjectRunRequest, options?: StartOptions): Promise<ProjectRunStart>;
  /** Points the latest at an earlier adapter: the one before, or a named one. */
  rollback(name: string, request?: RollbackRequest, options?: CallOptions): Promise<Project>;
  /** Forgets a project and its `NAME@latest`; its sessions and adapters stay. Throws a ConflictError while a run goes on. */
  delete(name: string, options?: CallOptions): Promise<void>;
  /** The project as it is, then at every change, until the signal aborts. */
  events(name: string, options?: EventOptions): EventStream<ProjectEvent>;
}

/** Sessions that are new to a project are read first. */
const RUN_MS = 330_000;

export function projectsResource(send: Send, subscribe: Subscribe, runtime: Runtime): Projects {
  const pathOf = (name: string, rest = ""): string => `/projects/${encodeURIComponent(name)}${rest}`;
  return {
    list: (options) => send({ method: "GET", path: "/projects", options }),
    get: (name, options) => send({ method: "GET", path: pathOf(name), options }),
    run: (name, request = {}, { idempotencyKey = runtime.newKey(), timeoutMs = RUN_MS, ...options } = {}) =>
      send({ method: "POST", path: pathOf(name, "/runs"), json: request, idempotencyKey, options: { ...options, timeoutMs } }),
    rollback: (name, request = {}, options) => send({ method: "POST", path: pathOf(name, "/rollback"), json: request, options }),
    delete: (name, options) => send({ method: "DELETE", path: pathOf(name), options }),
    events: (name, options) => subscribe<ProjectEvent>({ path: pathOf(name, "/events"), isLast: () => false, options }),
  };
}

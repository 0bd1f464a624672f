import type { Adapter, AdapterList } from "@imprint/contracts";
import type { Open } from "../http/open.js";
import type { CallOptions } from "../http/options.js";
import type { Send } from "../http/request.js";

export interface AdapterQuery {
  readonly base_model?: string;
  readonly task_type?: string;
  readonly session_id?: string;
  readonly limit?: number;
  /** The `next` of the page before. */
  readonly after?: string;
}

export interface Adapters {
  /** Newest first. */
  list(query?: AdapterQuery, options?: CallOptions): Promise<AdapterList>;
  get(adapterId: string, options?: CallOptions): Promise<Adapter>;
  /** One of the adapter's files, as `fetch` answers it: nothing is read yet. */
  file(adapterId: string, name: string, options?: CallOptions): Promise<Response>;
  /** Re-hashes the files and re-reads their headers; `health` of the answer says what was found. */
  verify(adapterId: string, options?: CallOptions): Promise<Adapter>;
  /** Archives; with `purge` the files go too. */
  delete(adapterId: string, options?: CallOptions & { readonly purge?: boolean }): Promise<void>;
}

export function adaptersResource(send: Send, open: Open): Adapters {
  const pathOf = (adapterId: string, rest = ""): string => `/adapters/${encodeURIComponent(adapterId)}${rest}`;
  return {
    list: (query, options) => send({ method: "GET", path: "/adapters", query: { ...query }, options }),
    get: (adapterId, options) => send({ method: "GET", path: pathOf(adapterId), options }),
    file: (adapterId, name, options) =>
      open({ method: "GET", path: pathOf(adapterId, `/files/${encodeURIComponent(name)}`), headers: { accept: "*/*" }, options }),
    verify: (adapterId, options) => send({ method: "POST", path: pathOf(adapterId, "/verify"), repeatable: true, options }),
    delete: async (adapterId, { purge, ...options } = {}) => {
      await send({ method: "DELETE", path: pathOf(adapterId), query: purge ? { purge: "true" } : {}, options });
    },
  };
}

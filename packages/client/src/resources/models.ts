import type { BaseModelList, Health, ModelList, StartResponse } from "@imprint/contracts";
import type { CallOptions, Runtime, StartOptions } from "../http/options.js";
import type { Send } from "../http/request.js";

/** `GET /health`: the service runs. Answers while a model loads or a job trains. */
export const healthResource =
  (send: Send) =>
  (options?: CallOptions): Promise<Health> =>
    send({ method: "GET", path: "/health", options });

export interface Models {
  /** The base models that are prepared, and every adapter. */
  list(options?: CallOptions): Promise<ModelList>;
  /** The base models that are here with what their files say, and those that the catalogue knows. */
  bases(options?: CallOptions): Promise<BaseModelList>;
  /** Starts a pull of the catalogue's model of this name, or of the hub's of this id: a job to wait for. */
  pull(name: string, options?: StartOptions): Promise<StartResponse>;
  /** Removes a base model from the data directory or the hub's cache. */
  delete(name: string, options?: CallOptions): Promise<void>;
}

export const modelsResource = (send: Send, runtime: Runtime): Models => ({
  list: (options) => send({ method: "GET", path: "/v1/models", options }),
  bases: (options) => send({ method: "GET", path: "/models", options }),
  pull: (name, { idempotencyKey = runtime.newKey(), ...options } = {}) =>
    send({ method: "POST", path: "/models", json: { name }, idempotencyKey, options }),
  delete: (name, options) => send({ method: "DELETE", path: `/models/${encodeURIComponent(name)}`, options }),
});

import type { Health, ModelList } from "@imprint/contracts";
import type { CallOptions } from "../http/options.js";
import type { Send } from "../http/request.js";

/** `GET /health`: the service runs. Answers while a model loads or a job trains. */
export const healthResource =
  (send: Send) =>
  (options?: CallOptions): Promise<Health> =>
    send({ method: "GET", path: "/health", options });

export interface Models {
  /** The base models that are prepared, and every adapter. */
  list(options?: CallOptions): Promise<ModelList>;
}

export const modelsResource = (send: Send): Models => ({
  list: (options) => send({ method: "GET", path: "/v1/models", options }),
});

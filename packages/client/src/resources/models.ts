import type { ModelList } from "@imprint/contracts";
import type { CallOptions } from "../http/options.js";
import type { Send } from "../http/request.js";

export interface Models {
  /** The base models that are prepared, and every adapter. */
  list(options?: CallOptions): Promise<ModelList>;
}

export const modelsResource = (send: Send): Models => ({
  list: (options) => send({ method: "GET", path: "/v1/models", options }),
});

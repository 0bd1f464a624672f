import type { CallOptions } from "../http/options.js";
import type { Send } from "../http/request.js";

export interface Model {
  readonly id: string;
  readonly object: "model";
  readonly created: number;
  readonly owned_by: string;
}

export interface Models {
  /** The base models that are prepared, and every adapter. */
  list(options?: CallOptions): Promise<{ readonly object: "list"; readonly data: readonly Model[] }>;
}

export const modelsResource = (send: Send): Models => ({
  list: (options) => send({ method: "GET", path: "/v1/models", options }),
});

import type { Health } from "@imprint/contracts";
import type { CallOptions } from "../http/options.js";
import type { Send } from "../http/request.js";

/** `GET /health`: the service runs. Answers while a model loads or a job trains. */
export const healthResource =
  (send: Send) =>
  (options?: CallOptions): Promise<Health> =>
    send({ method: "GET", path: "/health", options });

import type {
  PreviewReport,
  StartResponse,
  TrainHypernetworkRequest,
  TrainLoraPreviewRequest,
  TrainLoraRequest,
  TrainSweepRequest,
} from "@imprint/contracts";
import type { CallOptions, Runtime, StartOptions } from "../http/options.js";
import type { Send } from "../http/request.js";
import { PREVIEW_TIMEOUT_MS } from "./sessions.js";

export interface Train {
  /** Starts a QLoRA training, or goes on with one (`resume_from`). The job fails later when its session does not exist. */
  lora(request: TrainLoraRequest, options?: StartOptions): Promise<StartResponse>;
  /** What the same request would learn from. Loads the tokenizer, trains nothing. */
  preview(request: TrainLoraPreviewRequest, options?: CallOptions): Promise<PreviewReport>;
  /**
   * Trains with several settings on the same sessions and registers what does best on held-out text, or goes on with a sweep
   * (`resume_from`). The job's `result` shows every trial, also while it runs.
   */
  sweep(request: TrainSweepRequest, options?: StartOptions): Promise<StartResponse>;
  /** Starts the generation of an adapter by a hypernetwork, from the first trajectory. */
  hypernetwork(request: TrainHypernetworkRequest, options?: StartOptions): Promise<StartResponse>;
}

export function trainResource(send: Send, runtime: Runtime): Train {
  const start = (path: string, json: unknown, options: StartOptions = {}): Promise<StartResponse> =>
    send({ method: "POST", path, json, idempotencyKey: options.idempotencyKey ?? runtime.newKey(), options });
  return {
    lora: (request, options) => start("/train/lora", request, options),
    preview: (request, options) =>
      send({
        method: "POST",
        path: "/train/lora/preview",
        json: request,
        repeatable: true,
        options: { timeoutMs: PREVIEW_TIMEOUT_MS, ...options },
      }),
    sweep: (request, options) => start("/train/sweep", request, options),
    hypernetwork: (request, options) => start("/train/hypernetwork", request, options),
  };
}

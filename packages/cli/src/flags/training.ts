import { RESUME_FIELDS, TrainHypernetworkRequest, type TrainLoraPreviewRequest, TrainLoraRequest } from "@imprint/contracts";
import type { Option } from "commander";
import { UsageError } from "../errors.js";
import { checkRequest, flagOf, optionOf, type Properties, readFlags } from "./from-schema.js";

export type TrainingRequest =
  | { readonly method: "lora"; readonly body: TrainLoraRequest }
  | { readonly method: "hypernetwork"; readonly body: TrainHypernetworkRequest };

const { session_id: _session, session_ids: _sessions, resume_from: _job, ...lora } = TrainLoraRequest.properties;
const { trajectory_ids: _trajectories, ...hypernetwork } = TrainHypernetworkRequest.properties;
const PROPERTIES: Readonly<Record<TrainingRequest["method"], Properties>> = { lora, hypernetwork };

export { lora as LORA_PROPERTIES };

/** Every option of either method, from the request schemas; those of one method say so. */
export function trainingOptions(): Option[] {
  return Object.entries({ ...PROPERTIES.lora, ...PROPERTIES.hypernetwork }).map(([property, schema]) => {
    const option = optionOf(property, schema);
    const only = !(property in PROPERTIES.hypernetwork) ? "lora" : !(property in PROPERTIES.lora) ? "hypernetwork" : null;
    if (only !== null) option.description = `${option.description} [${only} only]`.trim();
    return option;
  });
}

/** How a request names the sessions of a command line. */
export const sessionsOf = (sessions: readonly string[]): Pick<TrainLoraRequest, "session_id" | "session_ids"> =>
  sessions.length === 1 && sessions[0] !== undefined ? { session_id: sessions[0] } : { session_ids: [...sessions] };

/** Throws a UsageError that names the flag, or SESSION. */
export function checkLoraRequest(
  request: TrainLoraPreviewRequest,
  schema: typeof TrainLoraRequest | typeof TrainLoraPreviewRequest = TrainLoraRequest,
): void {
  if (new Set(request.session_ids).size < (request.session_ids?.length ?? 0))
    throw new UsageError("a SESSION is named twice: each is trained on once");
  checkRequest(schema, request, { session_id: "SESSION", session_ids: "SESSION" });
  if (typeof request.train_on === "object" && request.session_id === undefined)
    throw new UsageError("--train-on turns:... takes turns of one SESSION only");
}

/** The request that `--resume JOB` asks for: nothing beside it may change the numbers of the training. */
export function resumeRequest(
  job: string,
  { sessions, method, options }: { sessions: readonly string[]; method: string; options: Readonly<Record<string, unknown>> },
): TrainingRequest {
  if (sessions.length > 0) throw new UsageError("--resume takes the sessions of its job: leave SESSION out");
  if (method !== "lora") throw new UsageError("--resume is an option of --method lora");
  const flags = readFlags({ ...PROPERTIES.lora, ...PROPERTIES.hypernetwork }, options);
  const stray = Object.keys(flags).find((property) => !(RESUME_FIELDS as readonly string[]).includes(property));
  if (stray !== undefined)
    throw new UsageError(`${flagOf(stray)} cannot stand beside --resume, which keeps what its job decided`);
  const body: TrainLoraRequest = { resume_from: job, ...flags };
  checkRequest(TrainLoraRequest, body, { resume_from: "--resume" });
  return { method, body };
}

/** The request that a command line asks for. Throws a UsageError that names the flag. */
export function trainingRequest(
  sessions: readonly string[],
  method: string,
  options: Readonly<Record<string, unknown>>,
): TrainingRequest {
  if (method !== "lora" && method !== "hypernetwork") throw new UsageError(`--method is lora or hypernetwork, not "${method}"`);
  if (sessions.length === 0)
    throw new UsageError(
      "missing required argument 'session': imprint sessions lists those stored, imprint project . takes a repository's",
    );
  const other = method === "lora" ? "hypernetwork" : "lora";
  const stray = Object.keys(readFlags(PROPERTIES[other], options)).find((property) => !(property in PROPERTIES[method]));
  if (stray !== undefined) throw new UsageError(`${flagOf(stray)} is an option of --method ${other}`);
  const flags = readFlags(PROPERTIES[method], options);
  if (method === "lora") {
    const body: TrainLoraRequest = { ...sessionsOf(sessions), ...flags };
    checkLoraRequest(body);
    return { method, body };
  }
  if (sessions.length > 1) throw new UsageError("--method hypernetwork takes one SESSION");
  const body = { trajectory_ids: [...sessions], ...flags };
  checkRequest(TrainHypernetworkRequest, body, { trajectory_ids: "SESSION" });
  return { method, body };
}

import { TrainHypernetworkRequest, TrainLoraRequest } from "@imprint/contracts";
import type { Option } from "commander";
import { UsageError } from "../errors.js";
import { checkRequest, flagOf, optionOf, type Properties, readFlags } from "./from-schema.js";

export type TrainingRequest =
  | { readonly method: "lora"; readonly body: TrainLoraRequest }
  | { readonly method: "hypernetwork"; readonly body: TrainHypernetworkRequest };

const { session_id: _session, ...lora } = TrainLoraRequest.properties;
const { trajectory_ids: _trajectories, ...hypernetwork } = TrainHypernetworkRequest.properties;
const PROPERTIES: Readonly<Record<TrainingRequest["method"], Properties>> = { lora, hypernetwork };

/** Every option of either method, from the request schemas; those of one method say so. */
export function trainingOptions(): Option[] {
  return Object.entries({ ...PROPERTIES.lora, ...PROPERTIES.hypernetwork }).map(([property, schema]) => {
    const option = optionOf(property, schema);
    const only = !(property in PROPERTIES.hypernetwork) ? "lora" : !(property in PROPERTIES.lora) ? "hypernetwork" : null;
    if (only !== null) option.description = `${option.description} [${only} only]`.trim();
    return option;
  });
}

/** The request that a command line asks for. Throws a UsageError that names the flag. */
export function trainingRequest(session: string, method: string, options: Readonly<Record<string, unknown>>): TrainingRequest {
  if (method !== "lora" && method !== "hypernetwork") throw new UsageError(`--method is lora or hypernetwork, not "${method}"`);
  const other = method === "lora" ? "hypernetwork" : "lora";
  const stray = Object.keys(readFlags(PROPERTIES[other], options)).find((property) => !(property in PROPERTIES[method]));
  if (stray !== undefined) throw new UsageError(`${flagOf(stray)} is an option of --method ${other}`);
  const flags = readFlags(PROPERTIES[method], options);
  const names = { session_id: "SESSION", trajectory_ids: "SESSION" };
  if (method === "lora") {
    const body = { session_id: session, ...flags };
    checkRequest(TrainLoraRequest, body, names);
    return { method, body };
  }
  const body = { trajectory_ids: [session], ...flags };
  checkRequest(TrainHypernetworkRequest, body, names);
  return { method, body };
}

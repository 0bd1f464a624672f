import type { Outcome } from "@imprint/contracts";
import { isObject, isString, type JsonObject, objectOrEmpty, stringOrNull } from "../../values/json.js";

/** What one line of an evaluation's `output.jsonl` says about its run beside the events. */
export interface BenchmarkRun {
  readonly instance: string | null;
  /** The task as it was given to the agent, for histories that begin with an action. */
  readonly instruction: string;
  readonly model: string | null;
  readonly outcome: Outcome;
  /** Null where the record judges nothing: the events' own end holds then. */
  readonly signal: string | null;
}

/** Graders write their verdict into the record, into its `report`, or into one of the two in `test_result`. */
function resolvedFlag(record: JsonObject): boolean | null {
  const result = objectOrEmpty(record.test_result);
  const places = [record, record.report, result, result.report].filter(isObject);
  return places.map((place) => place.resolved).find((flag) => typeof flag === "boolean") ?? null;
}

/** Reads what OpenHands' evaluation scripts (V0 `evaluation/`, V1 `benchmarks`) write around a history of events. */
export function benchmarkRun(record: JsonObject): BenchmarkRun {
  const metadata = objectOrEmpty(record.metadata);
  const resolved = resolvedFlag(record);
  const failed = stringOrNull(record.error) !== null;
  const judged = { outcome: resolved === true ? "success" : "failure", signal: `resolved: ${String(resolved)}` } as const;
  const unjudged = failed ? ({ outcome: "failure", signal: "error" } as const) : ({ outcome: "unknown", signal: null } as const);
  return {
    instance: isString(record.instance_id) || typeof record.instance_id === "number" ? String(record.instance_id) : null,
    instruction: isString(record.instruction) ? record.instruction : "",
    model: stringOrNull(objectOrEmpty(metadata.llm_config ?? metadata.llm).model),
    ...(resolved === null ? unjudged : judged),
  };
}

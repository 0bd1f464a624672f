import type { Session, Step, ToolCall } from "@imprint/contracts";
import { trainableSteps } from "../summarize.js";
import { isObject, type JsonObject, parseJson } from "../values/json.js";

/** An ATIF 1.7 document (Harbor's trajectory format), its fields by that format's names. */
export interface AtifTrajectory {
  readonly schema_version: "ATIF-v1.7";
  readonly session_id: string;
  readonly agent: JsonObject;
  readonly steps: readonly JsonObject[];
  readonly extra: JsonObject;
}

/** Arguments are an object there; a text that is none (some tools take free text) stands under `input`. */
function argumentsOf(text: string): JsonObject {
  const value = parseJson(text);
  return isObject(value) ? value : { input: text };
}

const callOf = ({ id, name, arguments: text }: ToolCall): JsonObject => ({
  tool_call_id: id,
  function_name: name,
  arguments: argumentsOf(text),
});

function stepOf(step: Step, index: number, learned: ReadonlySet<Step>): JsonObject {
  const { source, text, reasoning, tool_calls = [], observations = [], context_only, timestamp } = step;
  const said = {
    step_id: index + 1,
    ...(timestamp !== undefined && { timestamp }),
    source,
    message: text,
    ...(context_only === "copied" && { is_copied_context: true }),
  };
  if (source !== "agent") return said;
  const called = new Set(tool_calls.map(({ id }) => id));
  const isModels = context_only !== "synthetic";
  const results = observations.map(({ call_id, content, is_error }) => ({
    source_call_id: call_id !== null && called.has(call_id) ? call_id : null,
    content,
    ...(is_error === true && { extra: { is_error } }),
  }));
  return {
    ...said,
    ...(reasoning !== undefined && isModels && { reasoning_content: reasoning }),
    ...(tool_calls.length > 0 && { tool_calls: tool_calls.map(callOf) }),
    ...(results.length > 0 && { observation: { results } }),
    // No model was asked for these.
    ...(!isModels && { llm_call_count: 0 }),
    extra: { trained: learned.has(step), ...(context_only !== undefined && { context_only }) },
  };
}

/** A session as an ATIF trajectory. Which steps a training learns from stands in each agent step's `extra.trained`. */
export function toAtif({ session_id, source, outcome, outcome_signal, tools, steps }: Session): AtifTrajectory {
  const learned = trainableSteps(steps);
  return {
    schema_version: "ATIF-v1.7",
    session_id,
    agent: {
      name: source.agent ?? source.format,
      version: source.format_version ?? "unknown",
      ...(source.model !== null && { model_name: source.model }),
      ...(tools.length > 0 && { tool_definitions: tools.map((tool) => ({ type: "function", function: tool })) }),
    },
    steps: steps.map((step, index) => stepOf(step, index, learned)),
    extra: { outcome, outcome_signal, recorded_as: source.format, sha256: source.sha256 },
  };
}

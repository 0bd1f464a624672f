import type { Observation } from "@imprint/contracts";
import { DROPPED } from "../../dropped.js";
import { factsOf } from "../../facts.js";
import { type Transcript, transcript } from "../../transcript.js";
import { contentText, resultText } from "../../values/content-text.js";
import { arrayOrEmpty, isObject, isString, type JsonObject, objectOrEmpty, objectsOf, stringOrNull } from "../../values/json.js";
import { argumentsText } from "../../values/tool-calls.js";
import { toolDefinitions } from "../../values/tools.js";
import { verdictOf } from "../../values/verdict.js";
import { handOver, type Output, type RecordFormat } from "../format.js";

/** A result without `source_call_id` belongs to the call in its place, or to the step's only one; without a call it is the environment's. */
function results(step: JsonObject, callIds: readonly string[], output: Output): Observation[] {
  return objectsOf(objectOrEmpty(step.observation).results).map((result, index) => {
    const named = stringOrNull(result.source_call_id);
    const call_id = named ?? callIds[index] ?? (callIds.length === 1 ? callIds[0] : undefined) ?? null;
    return { call_id, content: output.fit(resultText(result.content)) };
  });
}

function addAgentStep(talk: Transcript, step: JsonObject, index: number, output: Output): void {
  const calls = objectsOf(step.tool_calls).flatMap((call, at) => {
    const name = stringOrNull(call.function_name) ?? stringOrNull(call.name);
    const id = stringOrNull(call.tool_call_id) ?? `call-${index}-${at}`;
    return name === null ? [] : [{ id, name, arguments: argumentsText(call.arguments) }];
  });
  talk.answer({
    text: contentText(step.message),
    reasoning: contentText(step.reasoning_content),
    calls,
    timestamp: step.timestamp,
    contextOnly: step.llm_call_count === 0 ? "synthetic" : undefined,
  });
  const observations = results(
    step,
    calls.map((call) => call.id),
    output,
  );
  for (const one of observations) if (one.call_id !== null || one.content !== "") talk.observe(one, { idsRepeat: true });
}

/** A continued run keeps its session's id, so its later files are told apart by their place. */
function idOf(record: JsonObject): string | null {
  const id = stringOrNull(record.session_id) ?? stringOrNull(record.trajectory_id);
  const place = objectOrEmpty(objectOrEmpty(record.agent).extra).continuation_index;
  return id !== null && typeof place === "number" && place > 0 ? `${id}-cont-${place}` : id;
}

function readTrajectory(record: JsonObject, output: Output): void {
  const talk = transcript(output.hold);
  const steps = objectsOf(record.steps);
  const agent = objectOrEmpty(record.agent);
  const firstAnswer = steps.findIndex((step) => step.source === "agent");
  const opening = firstAnswer < 0 ? steps : steps.slice(0, firstAnswer);
  // Up to 1.4 one producer wrote the task as a system step; no step is the user's then.
  const hasUser = steps.some((step) => step.source === "user");
  const task = hasUser ? undefined : opening.findLast((step) => step.source === "system");
  steps.forEach((step, index) => {
    if (step.is_copied_context === true) talk.dropped.add(DROPPED.copied);
    else if (step.source === "agent") addAgentStep(talk, step, index, output);
    else if (step.source === "user" || step === task) talk.say("user", contentText(step.message), step.timestamp);
    else if (step.source === "system") talk.say("system", contentText(step.message), step.timestamp);
    else talk.dropped.add(DROPPED.environment);
  });
  talk.dropped.add(DROPPED.sidechain, arrayOrEmpty(record.subagent_trajectories).length);
  const model = stringOrNull(agent.model_name) ?? stringOrNull(steps.find((step) => isString(step.model_name))?.model_name);
  // What Harbor keeps of the agent's own recording.
  const { cwd, cwds, git_branches } = objectOrEmpty(agent.extra);
  handOver(output, talk, {
    id: idOf(record),
    formatVersion: stringOrNull(record.schema_version)?.replace(/^ATIF-v?/, "") ?? null,
    agent: stringOrNull(agent.name),
    model,
    facts: factsOf({ folder: cwd ?? arrayOrEmpty(cwds)[0], branch: arrayOrEmpty(git_branches).at(-1) }),
    tools: toolDefinitions(agent.tool_definitions ?? objectOrEmpty(agent.extra).tools),
    ...verdictOf(record),
  });
}

/** ATIF 1.0 to 1.7 (Harbor): one document per run; a step holds its calls and their results. */
export const atif: RecordFormat = {
  name: "atif",
  sign: "an object with `schema_version` ATIF-v1 and `steps`",
  recognises: (record) =>
    Array.isArray(record.steps) &&
    ((isString(record.schema_version) && record.schema_version.startsWith("ATIF")) ||
      (isObject(record.agent) && objectsOf(record.steps).some((step) => isString(step.source) && "message" in step))),
  read: (output) => ({ accept: (record) => readTrajectory(record, output), finish: () => {} }),
};

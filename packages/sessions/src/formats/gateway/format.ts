import type { Step, ToolCall } from "@imprint/contracts";
import { draft } from "../../draft.js";
import { factsOf, toldFolder } from "../../facts.js";
import { arrayOrEmpty, isString, type JsonObject, objectsOf, scalarText, stringOrNull } from "../../values/json.js";
import { toolDefinitions } from "../../values/tools.js";
import type { Output, RecordFormat } from "../format.js";
import { GATEWAY_MARK } from "./recording.js";

const SOURCES = { system: "system", user: "user", assistant: "agent" } as const;

const isRole = (role: unknown): role is keyof typeof SOURCES => isString(role) && Object.hasOwn(SOURCES, role);

const callsOf = (message: JsonObject): ToolCall[] =>
  objectsOf(message.tool_calls).map(({ id, name, arguments: args }) => ({
    id: scalarText(id),
    name: scalarText(name),
    arguments: scalarText(args),
  }));

/** Examples that agents put into the model's mouth, and what it said before it was recorded, are no lessons of this session. */
const contextOnly = ({ isOwn, isCut }: { isOwn: boolean; isCut: boolean }): Pick<Step, "context_only"> =>
  isCut ? { context_only: "aborted" } : isOwn ? {} : { context_only: "synthetic" };

/**
 * The messages as steps, none left out and no text changed: the trainer makes the same of them for the engine
 * (`steps_of` in `imprint_trainer/generation/prompt.py`). A result stands with the latest call of its id.
 */
function stepsOf({ messages, answered, cut }: JsonObject, output: Output): Step[] {
  const own = new Set(arrayOrEmpty(answered));
  const short = new Set(arrayOrEmpty(cut));
  const steps: Step[] = [];
  const callers = new Map<string, Step>();
  objectsOf(messages).forEach((message, index) => {
    const text = scalarText(message.content);
    const caller = message.role === "tool" ? callers.get(scalarText(message.tool_call_id)) : undefined;
    if (caller !== undefined) {
      caller.observations ??= [];
      caller.observations.push({ call_id: scalarText(message.tool_call_id), content: text });
    } else if (isRole(message.role)) {
      const calls = callsOf(message);
      const step: Step = {
        source: SOURCES[message.role],
        text,
        ...(calls.length > 0 && { tool_calls: calls }),
        ...(message.role === "assistant" && contextOnly({ isOwn: own.has(index), isCut: short.has(index) })),
      };
      for (const { id } of calls) callers.set(id, step);
      steps.push(step);
    } else output.badRecord();
  });
  return steps;
}

/** What the service itself records of conversations that it answers. */
export const gateway: RecordFormat = {
  name: "gateway",
  sign: '`recorded_by` "imprint" and `messages`',
  recognises: (record) => record.recorded_by === GATEWAY_MARK && Array.isArray(record.messages),
  read: (output) => ({
    accept: (record) => {
      const started = stringOrNull(record.started_at);
      const steps = stepsOf(record, output);
      // What agents say of it stands ahead of the first answer.
      const folder = steps
        .slice(0, 3)
        .map(({ source, text }) => (source === "agent" ? null : toldFolder(text)))
        .find((one) => one !== null);
      output.conversation(
        draft({
          id: stringOrNull(record.session_id),
          formatVersion: scalarText(record.version),
          agent: stringOrNull(record.agent),
          model: stringOrNull(record.model),
          facts: factsOf({ folder }),
          ...(started !== null && { startedAt: started }),
          tools: toolDefinitions(record.tools),
          steps,
        }),
      );
    },
    finish: () => {},
  }),
};

import { isString, type JsonObject, objectsOf, stringOrNull } from "../../values/json.js";

/** Knows which events are a helper's, also of builds that mark only some of them. */
export interface Helpers {
  /** Whether an event is a helper's. `isOwn` knows the calls of the session's own answers. */
  isTheirs(event: JsonObject, data: JsonObject, isOwn: (call: string) => boolean): boolean;
}

export function helpers(): Helpers {
  /** Calls that helpers made. */
  const calls = new Set<string>();
  /** Calls of the session that a helper works on: until they are answered, the session itself says nothing. */
  const atWork = new Set<string>();

  return {
    isTheirs: (event, data, isOwn) => {
      const { type } = event;
      const call = stringOrNull(data.toolCallId);
      const isMarked = isString(event.agentId) || isString(data.parentToolCallId);
      if (!isMarked && type === "subagent.started" && call !== null && isOwn(call)) atWork.add(call);
      if (!isMarked && type === "tool.execution_complete" && call !== null) atWork.delete(call);
      const isCall = type === "tool.execution_start" || type === "tool.execution_complete";
      const isUnknown = isCall ? call !== null && !isOwn(call) : type === "assistant.message";
      if (!isMarked && !(call !== null && calls.has(call)) && !(atWork.size > 0 && isUnknown)) return false;
      if (isCall && call !== null) calls.add(call);
      for (const { toolCallId } of objectsOf(data.toolRequests)) if (isString(toolCallId)) calls.add(toolCallId);
      return true;
    },
  };
}

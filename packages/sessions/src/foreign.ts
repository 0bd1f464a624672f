import { isObject, isString, type JsonObject, objectOrEmpty, objectsOf, scalarText } from "./values/json.js";

/** A tool whose recordings are known and not read: a refusal names it, so that nobody looks for a fault in the file. */
interface Foreign {
  readonly tool: string;
  /** Whether a record is that tool's and no other's. */
  readonly record?: (record: JsonObject) => boolean;
  readonly line?: RegExp;
  /** What can be brought instead; records of a format that is read where nothing is said. */
  readonly instead?: string;
}

const CONVERT = "bring the conversation as chat-jsonl (`messages` of `role` and `content`) or as ATIF";
const typeOf = (record: JsonObject): string => scalarText(record.type);

const FOREIGN: readonly Foreign[] = [
  {
    tool: "Cursor",
    record: (record) =>
      (isString(record.role) && isObject(record.message) && Array.isArray(record.message.content) && record.type === undefined) ||
      (isString(record.composerId) && ("conversation" in record || "fullConversationHeadersOnly" in record)) ||
      isString(record.bubbleId) ||
      (record.type === "tool_call" && isString(record.session_id) && isObject(record.tool_call)) ||
      (record.type === "system" && record.subtype === "init" && "apiKeySource" in record && record.tools === undefined),
    line: /^_Exported on .{6,60} from Cursor \([\d.]+\)_\s*$/,
  },
  {
    tool: "Kimi CLI",
    record: (record) =>
      ["_checkpoint", "_usage", "_system_prompt"].includes(scalarText(record.role)) ||
      (record.type === "metadata" && "protocol_version" in record) ||
      /^(?:context\.append_|turn\.prompt$)/.test(typeOf(record)) ||
      /^(?:TurnBegin|StepBegin|ContentPart)$/.test(typeOf(objectOrEmpty(record.message))),
  },
  {
    tool: "Droid (Factory)",
    record: (record) =>
      (record.type === "session_start" && isString(record.id) && ("sessionTitle" in record || "owner" in record)) ||
      (record.type === "completion" && isString(record.finalText)) ||
      (record.type === "tool_call" && isString(record.toolName) && isString(record.session_id)),
  },
  {
    tool: "gptme",
    record: (record) =>
      isString(record.role) &&
      isString(record.content) &&
      isString(record.timestamp) &&
      (record.pinned === true || record.hide === true || (record.role === "system" && /\bgptme\b/.test(record.content))),
  },
  {
    tool: "an older OpenHands resolver",
    record: (record) =>
      isObject(record.issue) &&
      "git_patch" in record &&
      objectsOf(record.history).some((event) => event.source === undefined && (isString(event.action) || "content" in event)),
    instead: "bring the events that OpenHands itself saved (`save_trajectory_path`), which still say who did what",
  },
  {
    tool: "iFlow CLI",
    record: (record) => isString(record.sessionId) && /^session-[0-9a-f]{8}-/.test(record.sessionId) && isObject(record.message),
  },
  {
    tool: "Grok CLI",
    record: (record) =>
      (["system", "user", "assistant"].includes(typeOf(record)) &&
        record.message === undefined &&
        ["synthetic_reason", "prompt_index", "model_fingerprint", "model_id"].some((key) => key in record)) ||
      (record.type === "system" && isString(record.content) && record.content.startsWith("You are Grok")) ||
      record.type === "backend_tool_call",
  },
  {
    tool: "Cline's screen (`ui_messages.json`)",
    record: (record) => typeof record.ts === "number" && (isString(record.say) || isString(record.ask)),
    instead: "bring `api_conversation_history.json` from the same folder",
  },
  {
    tool: "what `gemini --output-format stream-json` prints",
    record: (record) => record.type === "init" && isString(record.session_id) && isString(record.model),
    instead: "bring `chats/session-*.json` of `~/.gemini/tmp`",
  },
  {
    tool: "Gemini CLI's list of prompts (`logs.json`)",
    record: (record) => isString(record.sessionId) && typeof record.messageId === "number" && isString(record.message),
    instead: "bring `chats/session-*.json` from the same folder",
  },
];

const refusal = ({ tool, instead = CONVERT }: Foreign): string =>
  `is a recording of ${tool}, which Imprint does not read; ${instead}.`;

/** Why a record is refused whose tool is known by its own marks; null where it is none of them. */
export function foreignRecord(record: JsonObject): string | null {
  const found = FOREIGN.find((one) => one.record?.(record) === true);
  return found === undefined ? null : refusal(found);
}

/** The same for a line of text. */
export function foreignLine(line: string): string | null {
  const found = FOREIGN.find((one) => one.line?.test(line) === true);
  return found === undefined ? null : refusal(found);
}

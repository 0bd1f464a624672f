import { isObject, type JsonObject, objectOrEmpty, objectsOf } from "../../values/json.js";

/** pi and STS files begin with the same line; only the shape of their messages tells them apart. */
function isPiMessage(record: JsonObject): boolean {
  const message = objectOrEmpty(record.message);
  return (
    "parentId" in record ||
    message.role === "toolResult" ||
    ["stopReason", "api", "provider"].some((key) => key in message) ||
    objectsOf(message.content).some((block) => block.type === "toolCall")
  );
}
const isStsMessage = (record: JsonObject): boolean =>
  ["toolCalls", "toolCallId", "reasoningContent"].some((key) => key in objectOrEmpty(record.message));

/** Which of the two a file is, as soon as its records so far show it. */
export function sessionDialect(head: readonly JsonObject[]): "pi" | "sts" | null {
  const header = head.find((record) => record.type === "session");
  const messages = head.filter(({ type, message }) => (type === "message" || type === "message_end") && isObject(message));
  if (header === undefined || messages.length === 0) return null;
  if (messages.some(isPiMessage)) return "pi";
  if ("harness" in header || messages.some(isStsMessage)) return "sts";
  return "pi";
}

import { contentText, joinBlocks } from "../../values/content-text.js";
import { isObject, isString, type JsonObject, objectOrEmpty, objectsOf, scalarText } from "../../values/json.js";
import { type Message, RAN_BY_USER } from "./parts.js";

/** Messages of opencode 2 hold their parts, and say what they are with `type`. */
export const isSecondMessage = (record: JsonObject): boolean =>
  isString(record.id) &&
  isString(record.type) &&
  record.role === undefined &&
  record.messageID === undefined &&
  record.parts === undefined &&
  isObject(record.time);

/** Whether a message is opencode's and no other tool's. */
export const isSecondTurn = (record: JsonObject): boolean =>
  isSecondMessage(record) &&
  ((record.type === "user" && isString(record.text)) || (record.type === "assistant" && Array.isArray(record.content)));

function toolPart({ id, name, state }: JsonObject): JsonObject {
  const { status, input, output, content, error } = objectOrEmpty(state);
  const said = contentText(content) || scalarText(output);
  const message = isObject(error) ? scalarText(error.message) : scalarText(error);
  return { type: "tool", tool: name, callID: id, state: { status, input, output: said, error: joinBlocks([said, message]) } };
}

const filePart = ({ mime }: JsonObject): JsonObject => ({ type: "file", mime });

/** The messages of the first generation that say the same; null for a kind that says nothing. */
export function firstGeneration(message: JsonObject): readonly Message[] | null {
  const { id, type, time, text, model, error, finish } = message;
  const as = (role: string, parts: readonly JsonObject[], more: JsonObject = {}): Message => ({
    info: { id, role, time, ...more },
    parts: [...parts],
  });
  if (type === "user") return [as("user", [{ type: "text", text: scalarText(text) }, ...objectsOf(message.files).map(filePart)])];
  if (type === "synthetic" || type === "skill") return [as("user", [{ type: "text", text: scalarText(text), synthetic: true }])];
  if (type === "compaction") return [as("user", [{ type: "compaction" }])];
  if (type === "system") return [as("system", [])];
  if (type === "assistant") {
    const parts = objectsOf(message.content).map((part) => (part.type === "tool" ? toolPart(part) : part));
    const failed = error ?? (finish === "error" ? finish : undefined);
    const { id: modelID, providerID } = objectOrEmpty(model);
    return [as("assistant", parts, { modelID, providerID, ...(failed === undefined ? {} : { error: { failed } }) })];
  }
  if (type !== "shell") return null;
  const { callID, command, output } = message;
  const ran = { type: "tool", tool: "bash", callID, state: { status: "completed", input: { command }, output } };
  return [as("user", [{ type: "text", text: RAN_BY_USER, synthetic: true }]), as("assistant", [ran])];
}

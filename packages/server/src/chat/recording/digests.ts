import { createHash } from "node:crypto";
import { type ChatMessage, type ChatTool, type ChatToolCall, isObject } from "@imprint/contracts";

const digest = (...parts: readonly string[]): string => {
  const hash = createHash("sha256");
  for (const part of parts) hash.update(`${part.length}:`).update(part);
  return hash.digest("base64url");
};

type Tools = readonly ChatTool[];
type Fields = Readonly<Record<string, unknown>>;

const fieldsOf = (value: unknown): Fields => (isObject(value) ? value : {});

const isSame = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other);

/** Arguments in the order of their names, without those that say what the tool's schema has for them anyway. */
const settled = (args: object, tool: ChatTool | undefined): object => {
  const properties = fieldsOf(fieldsOf(tool?.parameters).properties);
  const told = Object.entries(args).filter(([name, value]) => !isSame(value, fieldsOf(properties[name]).default));
  return Object.fromEntries(told.sort(([one], [other]) => (one < other ? -1 : 1)));
};

const asWritten = ({ name, arguments: json }: ChatToolCall, tools: Tools): string => {
  try {
    const args: unknown = JSON.parse(json);
    return JSON.stringify(
      isObject(args)
        ? settled(
            args,
            tools.find((tool) => tool.name === name),
          )
        : args,
    );
  } catch {
    return json;
  }
};

/** Clients give an answer back with other ids, other spaces around its text, and its arguments written anew, with defaults. */
const asGivenBack = ({ role, content, tool_calls }: ChatMessage, tools: Tools): string => {
  const text = role === "assistant" ? content.replace(/\s+/g, " ").trim() : content;
  return JSON.stringify([role, text, tool_calls.map((call) => [call.name, asWritten(call, tools)])]);
};

/** Of a conversation that goes on with a message. */
export const next = (before: string, message: ChatMessage, tools: Tools): string => digest(before, asGivenBack(message, tools));

/** What tells conversations apart, up to each of their messages: the first is of the tools alone, the last of everything. */
export const digestsOf = (tools: Tools, messages: readonly ChatMessage[]): readonly string[] => {
  const digests = [digest(JSON.stringify(tools))];
  for (const message of messages) digests.push(next(digests.at(-1) ?? "", message, tools));
  return digests;
};

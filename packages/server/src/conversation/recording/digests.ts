import { createHash } from "node:crypto";
import type { ChatMessage, ChatTool } from "@imprint/contracts";

const digest = (...parts: readonly string[]): string => {
  const hash = createHash("sha256");
  for (const part of parts) hash.update(`${part.length}:`).update(part);
  return hash.digest("base64url");
};

const asWritten = (json: string): string => {
  try {
    return JSON.stringify(JSON.parse(json));
  } catch {
    return json;
  }
};

/** Clients give an answer back with other ids, other spaces around its text, and its arguments written anew. */
const asGivenBack = ({ role, content, tool_calls }: ChatMessage): string => {
  const text = role === "assistant" ? content.replace(/\s+/g, " ").trim() : content;
  return JSON.stringify([role, text, tool_calls.map(({ name, arguments: args }) => [name, asWritten(args)])]);
};

/** Of a conversation that goes on with a message. */
export const next = (before: string, message: ChatMessage): string => digest(before, asGivenBack(message));

/** What tells conversations apart, up to each of their messages: the first is of the tools alone, the last of everything. */
export const digestsOf = (tools: readonly ChatTool[], messages: readonly ChatMessage[]): readonly string[] => {
  const digests = [digest(JSON.stringify(tools))];
  for (const message of messages) digests.push(next(digests.at(-1) ?? "", message));
  return digests;
};

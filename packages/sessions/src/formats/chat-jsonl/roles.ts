import { isString } from "../../values/json.js";

export type ChatRole = "system" | "user" | "answer" | "call" | "result";

/** What the datasets of the field call the speakers. */
const ROLES: Readonly<Record<string, ChatRole>> = {
  system: "system",
  developer: "system",
  user: "user",
  human: "user",
  assistant: "answer",
  gpt: "answer",
  model: "answer",
  ai: "answer",
  bot: "answer",
  chatgpt: "answer",
  tool_call: "call",
  function_call: "call",
  tool: "result",
  function: "result",
  observation: "result",
  tool_response: "result",
  tool_result: "result",
  function_response: "result",
  ipython: "result",
};

export const chatRole = (name: unknown): ChatRole | null => {
  if (!isString(name)) return null;
  const role = name.toLowerCase();
  return Object.hasOwn(ROLES, role) ? (ROLES[role] ?? null) : null;
};

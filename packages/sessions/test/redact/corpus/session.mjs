const PLAIN = {
  user: "Please look at the start-up.",
  answer: "I will look.",
  reasoning: "",
  input: { command: "ls" },
  result: "README.md\nsrc",
  tools: [],
  callId: "call_1",
  last: "Done.",
};

/** One recorded session as the bytes of a file, in the chat format or as a Claude Code log. */
export function recording(parts) {
  const all = { ...PLAIN, ...parts };
  return parts.chat === true || parts.tools !== undefined ? chat(all) : claudeCode(all);
}

function chat({ user, answer, reasoning, input, result, tools, callId, last }) {
  const call = { id: callId, type: "function", function: { name: "run", arguments: JSON.stringify(input) } };
  const messages = [
    { role: "user", content: user },
    { role: "assistant", content: answer, ...(reasoning && { reasoning_content: reasoning }), tool_calls: [call] },
    { role: "tool", tool_call_id: callId, content: result },
    { role: "assistant", content: last },
  ];
  return `${JSON.stringify({ messages, ...(tools.length > 0 && { tools }) })}\n`;
}

function claudeCode({ user, answer, reasoning, input, result, callId, last }) {
  const common = { sessionId: "bench", version: "2.1.0", isSidechain: false, timestamp: "2026-01-05T10:00:00.000Z" };
  const messages = [
    { role: "user", content: user },
    {
      id: "m1",
      role: "assistant",
      content: [
        ...(reasoning ? [{ type: "thinking", thinking: reasoning, signature: "" }] : []),
        { type: "text", text: answer },
        { type: "tool_use", id: callId, name: "Bash", input },
      ],
    },
    { role: "user", content: [{ type: "tool_result", tool_use_id: callId, content: result }] },
    { id: "m2", role: "assistant", content: [{ type: "text", text: last }] },
  ];
  const lines = messages.map((message, index) =>
    JSON.stringify({ type: message.role, uuid: `u${index}`, parentUuid: index ? `u${index - 1}` : null, ...common, message }),
  );
  return `${lines.join("\n")}\n`;
}

/** Every string of a value, names of fields included. */
export function leaves(value) {
  if (typeof value === "string") return [value];
  if (Array.isArray(value)) return value.flatMap(leaves);
  if (value !== null && typeof value === "object") return Object.entries(value).flatMap(([key, one]) => [key, ...leaves(one)]);
  return [];
}

import type { ChatMessage, ChatRequest } from "@imprint/contracts";
import { textOf } from "../../chat/content.js";
import { assistant, type Conversation, conversationOf, result, system, user } from "../../chat/conversation.js";
import { fieldRefused } from "../../common/problem.js";

const toMessage = ({ role, content, tool_calls, tool_call_id }: ChatRequest["messages"][number], at: number): ChatMessage => {
  const path = `messages.${at}`;
  if (content == null && role !== "assistant") throw fieldRefused(`${path}.content`, "is required");
  const text = textOf(content, `${path}.content`);
  if (role === "assistant")
    return assistant(
      text,
      (tool_calls ?? []).map((call) => ({ id: call.id, ...call.function })),
    );
  if (role === "user") return user(text);
  if (role !== "tool") return system(text); // `developer` is OpenAI's newer name of the same role
  if (tool_call_id === undefined) throw fieldRefused(`${path}.tool_call_id`, "is required");
  return result(tool_call_id, text);
};

const schemaOf = (format: ChatRequest["response_format"]): unknown => {
  if (format == null || format.type === "text") return null;
  return "json_schema" in format ? (format.json_schema.schema ?? {}) : { type: "object" };
};

/** What a request of `/v1/chat/completions` asks. Throws ProblemError for fields that contradict each other. */
export const chatConversation = (request: ChatRequest): Conversation => {
  const { messages, tools, tool_choice, response_format, max_tokens, max_completion_tokens, ...sampling } = request;
  if (max_tokens != null && max_completion_tokens != null)
    throw fieldRefused("max_completion_tokens", "cannot stand beside max_tokens, its older name");
  if (request.stream_options != null && request.stream !== true) throw fieldRefused("stream_options", "needs stream: true");
  return conversationOf({
    ...sampling,
    messages: messages.map(toMessage),
    strict_tools: (tools ?? []).flatMap(({ function: { name, strict } }) => (strict === true ? [name] : [])),
    tools: (tools ?? []).map(({ function: { name, description, parameters } }) => ({
      name,
      description: description ?? null,
      parameters: parameters ?? null,
    })),
    tool_choice: typeof tool_choice === "object" && tool_choice !== null ? tool_choice.function : (tool_choice ?? "auto"),
    json_schema: schemaOf(response_format),
    max_tokens: max_completion_tokens ?? max_tokens,
  });
};

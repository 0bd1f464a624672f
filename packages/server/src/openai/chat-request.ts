import type { ChatRequest, ChatSpec } from "@imprint/contracts";
import { ProblemError } from "../http/problem.js";

const refuse = (field: string, message: string): ProblemError =>
  new ProblemError("VALIDATION_FAILED", `Field ${field} ${message}.`, { errors: [{ path: `/${field}`, message }] });

const plainMessage = ({ role, content }: ChatRequest["messages"][number]): ChatSpec["messages"][number] => ({
  // OpenAI's newer name of the same role.
  role: role === "developer" ? "system" : role,
  content: typeof content === "string" ? content : content.map(({ text }) => text).join("\n"),
});

/** A request with every value decided, but for the model. Throws ProblemError for fields that contradict each other. */
export const samplingOf = (request: ChatRequest): Omit<ChatSpec, "base_model" | "adapter_path"> => {
  const { messages, tools = [], max_tokens, max_completion_tokens, stop } = request;
  if (max_tokens != null && max_completion_tokens != null)
    throw refuse("max_completion_tokens", "cannot stand beside max_tokens, its older name");
  if (request.stream_options != null && request.stream !== true) throw refuse("stream_options", "needs stream: true");
  return {
    messages: messages.map(plainMessage),
    tools: tools.map(({ function: { name, description = null, parameters = null } }) => ({ name, description, parameters })),
    max_tokens: max_completion_tokens ?? max_tokens ?? 256,
    temperature: request.temperature ?? 0,
    top_p: request.top_p ?? 1,
    stop: typeof stop === "string" ? [stop] : (stop ?? []),
    seed: request.seed ?? 0,
    stream: request.stream ?? false,
  };
};

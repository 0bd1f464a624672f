import {
  type ChatMessage,
  type ChatTool,
  RESPONSE_ITEMS,
  ResponseEvent,
  ResponseObject,
  ResponsesRequest,
} from "@imprint/contracts";
import { by, type Conversation, conversationOf, type LeftOut, refuseUnread, required, textOf } from "../../chat/conversation.js";
import { fieldRefused } from "../../common/error.js";
import type { App } from "../../http/app.js";
import { addChatCall, type ChatDeps, epochSeconds } from "../answer-stream.js";
import {
  begunResponse,
  CUSTOM_PARAMETERS,
  customArguments,
  responseOf,
  responsesEncoder,
  type ToolName,
} from "./responses-answer.js";

type Item = Exclude<ResponsesRequest["input"], string>[number];
type ReadItem = Exclude<Item, { readonly type: "other" }>;
type Tool = NonNullable<ResponsesRequest["tools"]>[number];
type ToolInside = Extract<Tool, { readonly type: "namespace" }>["tools"][number];

const READ: ReadonlySet<string> = new Set(RESPONSE_ITEMS);
const isRead = (item: Item): item is ReadItem => READ.has(item.type ?? "message");

/** The one name of a tool that came in a namespace: models know no namespaces. */
const flatName = (name: string, namespace: string | null | undefined): string =>
  namespace == null ? name : `${namespace}__${name}`;

const messageOf = ({ role, content }: ReadItem, path: string, leftOut: LeftOut): ChatMessage => {
  const text = textOf(content, `${path}.content`, leftOut);
  if (role === "assistant") return by.assistant(text);
  return required(role, `${path}.role`) === "user" ? by.user(text) : by.system(text);
};

const itemMessages = (item: ReadItem, path: string, leftOut: LeftOut): readonly ChatMessage[] => {
  const { type = "message", call_id, name, namespace, input } = item;
  if (type === "message") return [messageOf(item, path, leftOut)];
  if (type === "reasoning") return [];
  const id = required(call_id, `${path}.call_id`);
  if (type === "function_call_output" || type === "custom_tool_call_output")
    return [by.result(id, textOf(item.output, `${path}.output`, leftOut))];
  const args = type === "custom_tool_call" ? customArguments(required(input, `${path}.input`)) : (item.arguments ?? "{}");
  const call = { id, name: flatName(required(name, `${path}.name`), namespace), arguments: args };
  return [by.assistant("", [call])];
};

const messagesIn = (items: readonly Item[], leftOut: LeftOut): readonly ChatMessage[] => {
  /** Calls that are left out, as are their results, of which some are a function's. */
  const lost = new Set<unknown>();
  return items.flatMap((item, at) => {
    const path = `input.${at}`;
    if (!isRead(item)) {
      leftOut.add(`item ${item.type}`);
      const { call_id, id } = item as { readonly call_id?: unknown; readonly id?: unknown };
      lost.add(call_id ?? id);
      return [];
    }
    if (item.type?.endsWith("_output") && item.call_id !== undefined && lost.has(item.call_id)) return [];
    if (item.role === "user" && at === items.length - 1) refuseUnread(item.content, `${path}.content`);
    return itemMessages(item, path, leftOut);
  });
};

interface Named extends ToolName {
  readonly tool: ChatTool;
  readonly isStrict: boolean;
}

const namedTools = (tool: Tool | ToolInside, leftOut: LeftOut, namespace?: string): readonly Named[] => {
  if (tool.type === "namespace") return tool.tools.flatMap((inner) => namedTools(inner, leftOut, tool.name));
  if (tool.type !== "function" && tool.type !== "custom") {
    leftOut.add(`tool ${tool.type}`);
    return [];
  }
  const { name, type, description } = tool;
  const parameters = type === "custom" ? CUSTOM_PARAMETERS : (tool.parameters ?? null);
  const flat = { name: flatName(name, namespace), description: description ?? null, parameters };
  const isStrict = type === "function" && tool.strict === true;
  return [{ type, name, ...(namespace !== undefined && { namespace }), tool: flat, isStrict }];
};

const schemaOf = (text: ResponsesRequest["text"]): unknown => {
  const format = text?.format;
  if (format == null || format.type === "text") return null;
  return "schema" in format ? format.schema : { type: "object" };
};

interface ResponsesConversation {
  readonly conversation: Conversation;
  /** By the names that the model knows. */
  readonly toolNames: ReadonlyMap<string, ToolName>;
}

/** What a request of `/v1/responses` asks. Throws ProblemError for what would need a stored response. */
const conversationIn = (request: ResponsesRequest, leftOut: LeftOut): ResponsesConversation => {
  const { input, instructions, tools, tool_choice, text, max_output_tokens, previous_response_id, ...sampling } = request;
  if (previous_response_id != null)
    throw fieldRefused(
      "previous_response_id",
      "cannot be followed, since nothing is stored: send the whole conversation as input",
    );
  const named = (tools ?? []).flatMap((tool) => namedTools(tool, leftOut));
  if (input.length === 0 && instructions == null)
    throw fieldRefused("input", "is empty, and there are no instructions: say something in one of them");
  const messages = typeof input === "string" ? [by.user(input)] : messagesIn(input, leftOut);
  const conversation = conversationOf({
    ...sampling,
    messages: instructions == null ? messages : [by.system(instructions), ...messages],
    tools: named.map(({ tool }) => tool),
    strict_tools: named.flatMap(({ tool, isStrict }) => (isStrict ? [tool.name] : [])),
    tool_choice: typeof tool_choice === "object" && tool_choice !== null ? { name: tool_choice.name } : (tool_choice ?? "auto"),
    json_schema: schemaOf(text),
    max_tokens: max_output_tokens,
  });
  return { conversation, toolNames: new Map(named.map(({ tool, isStrict: _calls, ...name }) => [tool.name, name])) };
};

/** `POST /v1/responses`, of which nothing is stored. */
export const responsesRoute = (app: App, services: ChatDeps): void =>
  addChatCall(app, services, {
    url: "/v1/responses",
    summary: "The same, as OpenAI's Responses",
    body: ResponsesRequest,
    answer: ResponseObject,
    event: ResponseEvent,
    read: (request, leftOut) => {
      const { conversation, toolNames } = conversationIn(request, leftOut);
      const created_at = epochSeconds(services.deps.now());
      const head = { response: begunResponse(request, { conversation, created_at }), toolNames };
      return { conversation, whole: (answer) => responseOf(answer, head), encoder: responsesEncoder(head) };
    },
  });

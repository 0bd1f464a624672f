import { type ChatMessage, type ChatTool, ResponseEvent, ResponseObject, ResponsesRequest } from "@imprint/contracts";
import { wholeAnswer } from "../../chat/answer.js";
import { assistant, type Conversation, conversationOf, result, system, textOf, user } from "../../chat/conversation.js";
import { fieldRefused } from "../../common/problem.js";
import type { App } from "../../http/app.js";
import { CHAT_ROUTE, type ChatDeps, epochSeconds, sendStream } from "../answer-stream.js";
import { begunResponse, responseOf, responsesEncoder, type ToolName } from "./responses-answer.js";

type Item = Exclude<ResponsesRequest["input"], string>[number];
type Tool = NonNullable<ResponsesRequest["tools"]>[number];

/** The one name of a tool that came in a namespace: models know no namespaces. */
const flatName = (name: string, namespace: string | null | undefined): string =>
  namespace == null ? name : `${namespace}__${name}`;

const required = (value: string | undefined, path: string): string => {
  if (value === undefined) throw fieldRefused(path, "is required");
  return value;
};

const messageOf = ({ role, content }: Item, path: string): ChatMessage => {
  const text = textOf(content, `${path}.content`);
  if (role === "assistant") return assistant(text);
  return required(role, `${path}.role`) === "user" ? user(text) : system(text);
};

const itemMessages = (item: Item, at: number): readonly ChatMessage[] => {
  const path = `input.${at}`;
  const { type = "message", call_id, name, namespace, arguments: args } = item;
  if (type === "message") return [messageOf(item, path)];
  if (type === "reasoning") return [];
  if (type !== "function_call" && type !== "function_call_output")
    throw fieldRefused(`${path}.type`, `is ${JSON.stringify(type)}, which is not known here`);
  const id = required(call_id, `${path}.call_id`);
  if (type === "function_call_output") return [result(id, textOf(item.output, `${path}.output`))];
  const call = { id, name: flatName(required(name, `${path}.name`), namespace), arguments: args ?? "{}" };
  return [assistant("", [call])];
};

interface Named extends ToolName {
  readonly tool: ChatTool;
  readonly isStrict: boolean;
}

const namedTools = (tool: Tool, namespace?: string): readonly Named[] => {
  if (tool.type === "namespace") return tool.tools.flatMap((inner) => namedTools(inner, tool.name));
  if (tool.type !== "function") return []; // a search of OpenAI's own, which is not there
  const { name, description, parameters, strict } = tool;
  const flat = { name: flatName(name, namespace), description: description ?? null, parameters: parameters ?? null };
  return [{ name, ...(namespace !== undefined && { namespace }), tool: flat, isStrict: strict === true }];
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
const conversationIn = (request: ResponsesRequest): ResponsesConversation => {
  const { input, instructions, tools, tool_choice, text, max_output_tokens, previous_response_id, ...sampling } = request;
  if (previous_response_id != null)
    throw fieldRefused(
      "previous_response_id",
      "cannot be followed, since nothing is stored: send the whole conversation as input",
    );
  const named = (tools ?? []).flatMap((tool) => namedTools(tool));
  const messages = typeof input === "string" ? [user(input)] : input.flatMap(itemMessages);
  const conversation = conversationOf({
    ...sampling,
    messages: instructions == null ? messages : [system(instructions), ...messages],
    tools: named.map(({ tool }) => tool),
    strict_tools: named.flatMap(({ tool, isStrict }) => (isStrict ? [tool.name] : [])),
    tool_choice: typeof tool_choice === "object" && tool_choice !== null ? { name: tool_choice.name } : (tool_choice ?? "auto"),
    json_schema: schemaOf(text),
    max_tokens: max_output_tokens,
  });
  return { conversation, toolNames: new Map(named.map(({ tool, isStrict: _calls, ...name }) => [tool.name, name])) };
};

/** `POST /v1/responses`, of which nothing is stored. */
export const responsesRoute = (app: App, { chat, workshop }: ChatDeps): void => {
  app.post(
    "/v1/responses",
    {
      ...CHAT_ROUTE,
      schema: {
        tags: ["chat"],
        summary: "The same, as OpenAI's Responses",
        body: ResponsesRequest,
        response: {
          200: {
            description: "The response; with stream, its events as server-sent events",
            content: { "application/json": { schema: ResponseObject }, "text/event-stream": { schema: ResponseEvent } },
          },
        },
      },
    },
    async (request, reply) => {
      const { body } = request;
      const { conversation, toolNames } = conversationIn(body);
      const stream = body.stream ?? false;
      const events = await chat.ask({ model: body.model, conversation, stream }, request);
      const head = { response: begunResponse(body, { conversation, created_at: epochSeconds(workshop.now()) }), toolNames };
      if (!stream) return responseOf(await wholeAnswer(events), head);
      return sendStream(events, responsesEncoder(head), { request, reply });
    },
  );
};

import OpenAI, { BadRequestError } from "openai";
import type { ResponseCreateParamsNonStreaming, ResponseInputItem } from "openai/resources/responses/responses";
import { expect, test } from "vitest";
import { TWO_CALLS } from "../../chat/support.js";
import { MODEL, startService } from "../../support/service.js";

const COMMAND = '{"command": "ls -a | grep \\"gr\\u00fc\\u00dfe 🦘\\""}';
const TOO_LONG = {
  code: "CONTEXT_LENGTH_EXCEEDED",
  message: "The prompt is too long: 9000 tokens > 8191 maximum; this model's maximum context length is 8192 tokens.",
  hint: "Shorten the messages.",
};

const startClient = async (behaviour: object = { script: [TWO_CALLS, "All done."] }): Promise<OpenAI> =>
  new OpenAI({ baseURL: `${(await startService({ behaviour })).url}/v1`, apiKey: "none", maxRetries: 0 });

const parameters = { type: "object", properties: { command: { type: "string" } }, required: ["command"] };
const tools = [{ type: "function" as const, function: { name: "bash", description: "Runs a command.", parameters } }];
const messages: OpenAI.ChatCompletionMessageParam[] = [{ role: "user", content: "Look around." }];
const completed = { model: MODEL, messages, tools };

test("chat: calls, their results, and the answer to them", async () => {
  const client = await startClient();
  const [choice] = (await client.chat.completions.create(completed)).choices;
  if (choice === undefined) throw new Error("there is a choice");
  expect(choice).toMatchObject({
    finish_reason: "tool_calls",
    message: {
      role: "assistant",
      content: expect.stringMatching(/^I look around\.\s*And \u2028 then:$/),
      tool_calls: [
        { type: "function", function: { name: "bash", arguments: COMMAND } },
        { type: "function", function: { name: "bash", arguments: "{}" } },
      ],
    },
  });
  const results = (choice.message.tool_calls ?? []).map(({ id }) => ({
    role: "tool" as const,
    tool_call_id: id,
    content: "a.txt",
  }));
  const next = await client.chat.completions.create({ ...completed, messages: [...messages, choice.message, ...results] });
  expect(next.choices[0]).toMatchObject({ finish_reason: "stop", message: { content: "All done." } });
  expect(next.choices[0]?.message).not.toHaveProperty("tool_calls");
});

test("chat: the stream that its helper puts together is the whole answer", async () => {
  const client = await startClient({ script: [TWO_CALLS], pieces: 1 });
  const whole = await client.chat.completions.create(completed);
  const stream = client.chat.completions.stream({ ...completed, stream_options: { include_usage: true } });
  const streamed = await stream.finalChatCompletion();
  const shown = ({ choices, usage }: OpenAI.ChatCompletion) => ({
    choices: choices.map(({ finish_reason, message: { content, tool_calls } }) => ({
      finish_reason,
      content,
      calls: (tool_calls ?? []).map((call) => call.type === "function" && [call.function.name, call.function.arguments]),
    })),
    usage,
  });
  expect(shown(streamed)).toEqual(shown(whole));
});

test("responses: calls, their results, and the answer to them", async () => {
  const client = await startClient();
  const asked: ResponseCreateParamsNonStreaming = {
    model: MODEL,
    instructions: "Be brief.",
    input: [{ role: "user", content: "Look around." }],
    tools: [{ type: "function", name: "bash", description: "Runs a command.", parameters, strict: false }],
  };
  const first = await client.responses.create(asked);
  expect(first).toMatchObject({ object: "response", status: "completed", store: false, tools: asked.tools });
  expect(first.output.map(({ type }) => type)).toEqual(["message", "function_call", "message", "function_call"]);
  expect(first.output_text).toMatch(/^I look around\.\s*And \u2028 then:$/);
  const calls = first.output.flatMap((item) => (item.type === "function_call" ? [item] : []));
  expect(calls.map((call) => call.arguments)).toEqual([COMMAND, "{}"]);
  const results = calls.map(({ call_id }) => ({ type: "function_call_output" as const, call_id, output: "a.txt" }));
  const input = [...(asked.input as ResponseInputItem[]), ...(first.output as ResponseInputItem[]), ...results];
  expect((await client.responses.create({ ...asked, input })).output_text).toBe("All done.");
  expect(first.usage).toMatchObject({ input_tokens: 4, output_tokens: expect.any(Number) });
});

test("responses: the events are all there, in order, and end in the whole answer", async () => {
  const client = await startClient({ script: [TWO_CALLS], pieces: 1 });
  const asked = {
    model: MODEL,
    input: "Look around.",
    tools: [{ type: "function" as const, name: "bash", parameters, strict: false }],
  };
  const whole = await client.responses.create(asked);
  const stream = client.responses.stream(asked);
  const types: string[] = [];
  let sequence = 0;
  for await (const event of stream) {
    if (event.type !== types.at(-1)) types.push(event.type);
    expect(event.sequence_number).toBe(sequence++);
  }
  const message = [
    "response.output_item.added",
    "response.content_part.added",
    "response.output_text.delta",
    "response.output_text.done",
    "response.content_part.done",
    "response.output_item.done",
  ];
  const call = [
    "response.output_item.added",
    "response.function_call_arguments.delta",
    "response.function_call_arguments.done",
    "response.output_item.done",
  ];
  const begun = ["response.created", "response.in_progress"];
  expect(types).toEqual([...begun, ...message, ...call, ...message, ...call, "response.completed"]);
  const streamed = await stream.finalResponse();
  const shown = ({ output, usage, status }: typeof whole) => ({ usage, status, output: JSON.parse(withoutIds(output)) });
  expect(shown(streamed)).toEqual(shown(whole));
});

const withoutIds = (value: unknown): string =>
  JSON.stringify(value, (key, inner) => (["id", "call_id", "parsed", "parsed_arguments"].includes(key) ? undefined : inner));

test("an overflow is told in the words that agents look for, before a stream and as an error of it", async () => {
  const client = await startClient({ fail_chats: TOO_LONG });
  const asks = [
    () => client.chat.completions.create({ ...completed, stream: true }),
    () => client.chat.completions.create(completed),
    () => client.responses.create({ model: MODEL, input: "x", stream: true }),
  ];
  for (const ask of asks) {
    const refusal: unknown = await ask().catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(BadRequestError);
    expect(refusal).toMatchObject({
      code: "context_length_exceeded",
      message: expect.stringContaining("maximum context length is 8192 tokens"),
    });
  }
  const late = await startClient({ fail_chats: TOO_LONG, hold_after: 1 });
  const events = await late.responses.create({ model: MODEL, input: "x y", stream: true });
  let last: OpenAI.Responses.ResponseStreamEvent | null = null;
  for await (const event of events) last = event;
  expect(last).toMatchObject({
    type: "response.failed",
    response: { status: "failed", error: { code: "context_length_exceeded" } },
  });
});

test("models say how much they read and what they can do, in the list and one by one", async () => {
  const client = await startClient();
  const [model] = (await client.models.list()).data;
  expect(model).toMatchObject({ id: MODEL, context_length: null, capabilities: ["chat", "tools"] });
  expect(await client.models.retrieve(MODEL)).toEqual(model);
  await expect(client.models.retrieve("nobody")).rejects.toMatchObject({ status: 404, code: "not_found" });
});

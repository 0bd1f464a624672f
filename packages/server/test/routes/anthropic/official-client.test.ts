import { join } from "node:path";
import Anthropic, { APIUserAbortError, BadRequestError, NotFoundError } from "@anthropic-ai/sdk";
import { expect, test } from "vitest";
import { TWO_CALLS } from "../../chat/support.js";
import { MODEL, makeFolder, startService } from "../../support/service.js";

const startClient = async (behaviour: object = { script: [TWO_CALLS, "All done."] }, flags = {}): Promise<Anthropic> =>
  new Anthropic({ baseURL: (await startService({ behaviour, flags })).url, apiKey: "secret-token-for-tests", maxRetries: 0 });

const asked: Anthropic.MessageCreateParamsNonStreaming = {
  model: MODEL,
  max_tokens: 1000,
  system: [{ type: "text", text: "Be brief.", cache_control: { type: "ephemeral" } }],
  messages: [{ role: "user", content: "Look around." }],
  tools: [{ name: "bash", input_schema: { type: "object", properties: { command: { type: "string" } } } }],
};
const INPUTS = [{ command: 'ls -a | grep "grüße 🦘"' }, {}];

test("calls, their results, and the answer to them", async () => {
  const client = await startClient();
  const first = await client.messages.create(asked);
  expect(first).toMatchObject({ type: "message", role: "assistant", model: MODEL, stop_reason: "tool_use", stop_sequence: null });
  const calls = first.content.flatMap((block) => (block.type === "tool_use" ? [block] : []));
  expect(calls.map(({ input }) => input)).toEqual(INPUTS);
  const results = calls.map(({ id }) => ({ type: "tool_result" as const, tool_use_id: id, content: "a.txt" }));
  const messages: Anthropic.MessageParam[] = [
    ...asked.messages,
    { role: "assistant", content: first.content },
    { role: "user", content: results },
  ];
  const next = await client.messages.create({ ...asked, messages });
  expect(next).toMatchObject({ stop_reason: "end_turn", content: [{ type: "text", text: "All done." }] });
});

test("the stream's events are all there, in order, and its helper puts the whole answer together", async () => {
  const client = await startClient({ script: [TWO_CALLS], pieces: 1 });
  const whole = await client.messages.create(asked);
  const stream = client.messages.stream(asked);
  const types: string[] = [];
  stream.on("streamEvent", ({ type }) => {
    if (type !== types.at(-1)) types.push(type);
  });
  const streamed = await stream.finalMessage();
  const block = ["content_block_start", "content_block_delta", "content_block_stop"];
  expect(types).toEqual(["message_start", ...block, ...block, ...block, ...block, "message_delta", "message_stop"]);
  const shown = ({ content, usage, stop_reason }: Anthropic.Message) => ({
    content: content.map((one) => ({ ...one, id: "" })),
    tokens: [usage.input_tokens, usage.output_tokens],
    stop_reason,
  });
  expect(shown(streamed)).toEqual(shown(whole));
});

test("a call whose arguments are no JSON object is an object all the same, streamed or not", async () => {
  const client = await startClient({ script: ['<tool_call>\n{"name": "bash", "arguments": "ls -a"}\n</tool_call>'] });
  const expected = [{ type: "tool_use", name: "bash", input: { input: "ls -a" } }];
  expect((await client.messages.create(asked)).content).toMatchObject(expected);
  expect((await client.messages.stream(asked).finalMessage()).content).toMatchObject(expected);
});

test("a prompt's tokens are counted, tools and all, without an answer", async () => {
  const { model, messages, system, tools } = asked;
  const counted = (await startClient()).messages.countTokens({
    model,
    messages,
    ...(system && { system }),
    ...(tools && { tools }),
  });
  expect(await counted).toEqual({ input_tokens: 4 });
});

test.each([
  ["an unknown model", { model: "nobody" }, NotFoundError, "not_found_error", "GET /v1/models"],
  [
    "an image",
    { messages: [{ role: "user", content: [{ type: "image" }] }] },
    BadRequestError,
    "invalid_request_error",
    "is all that is asked",
  ],
  ["a tool without a schema", { tools: [{ name: "x" }] }, BadRequestError, "invalid_request_error", "tools.0"],
  [
    "a field that would change the answer",
    { repetition_penalty: 1.2 },
    BadRequestError,
    "invalid_request_error",
    "repetition_penalty",
  ],
])("%s is refused in Anthropic's shape", async (_case, change, Class, type, words) => {
  const refused = (await startClient()).messages.create({ ...asked, ...change } as Anthropic.MessageCreateParamsNonStreaming);
  await expect(refused).rejects.toBeInstanceOf(Class);
  await expect(refused).rejects.toMatchObject({
    error: { type: "error", error: { type, message: expect.stringContaining(words) } },
  });
});

test("an overflow is told in the words that agents look for, before a stream and as an error of it", async () => {
  const fail_chats = {
    code: "CONTEXT_LENGTH_EXCEEDED",
    message: "The prompt is too long: 9000 tokens > 8191 maximum; this model's maximum context length is 8192 tokens.",
    hint: "Shorten the messages.",
  };
  const error = {
    type: "invalid_request_error",
    message: expect.stringContaining("prompt is too long: 9000 tokens > 8191 maximum"),
  };
  const early = (await startClient({ fail_chats })).messages.create({ ...asked, stream: true });
  await expect(early).rejects.toMatchObject({ status: 400, error: { type: "error", error } });
  const late = (await startClient({ fail_chats, hold_after: 1 })).messages.stream(asked).finalMessage();
  await expect(late).rejects.toMatchObject({ error: { type: "error", error } });
});

test("a client that leaves frees the trainer for the next", async () => {
  const client = await startClient({ hold_chats: join(makeFolder(), "held"), hold_after: 1 });
  const stream = client.messages.stream(asked);
  stream.on("text", () => stream.abort());
  await expect(stream.finalMessage()).rejects.toBeInstanceOf(APIUserAbortError);
  const next = await client.messages.create({ ...asked, stream: true }, { signal: AbortSignal.timeout(10_000) });
  const events = next[Symbol.asyncIterator]();
  expect((await events.next()).value).toMatchObject({ type: "message_start" });
  next.controller.abort();
});

test("the key is the service's token, where Anthropic's clients have it", async () => {
  const right = await startClient(undefined, { token: "secret-token-for-tests" });
  expect((await right.messages.create(asked)).type).toBe("message");
  const wrong = await startClient(undefined, { token: "another-token-for-tests" });
  await expect(wrong.messages.create(asked)).rejects.toMatchObject({
    status: 401,
    error: { error: { type: "authentication_error" } },
  });
});

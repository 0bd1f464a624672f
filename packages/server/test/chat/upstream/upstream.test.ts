import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { MODEL, makeFolder, makeModel, startService } from "../../support/service.js";
import { startFake } from "./fake.js";
import { ask, begin, messages, TOKEN, tools } from "./support.js";

test("the models of the upstream stand beside those of this machine", async () => {
  const { service } = await begin();
  const { data } = (await service.get("/v1/models")).json();
  expect(data.map(({ id, owned_by }: { id: string; owned_by: string }) => [id, owned_by])).toEqual([
    [MODEL, "base"],
    ["big-model", "vllm"],
  ]);
  expect(data[1]).toMatchObject({ context_length: 4096 });
});

test("a chat for a model of the upstream is passed on with all that it asks", async () => {
  const { service, chats } = await begin();
  const asked = [
    { role: "system", content: "Be brief." },
    { role: "user", content: "Look." },
    {
      role: "assistant",
      content: null,
      tool_calls: [{ id: "c1", type: "function", function: { name: "bash", arguments: '{"a":1}' } }],
    },
    { role: "tool", tool_call_id: "c1", content: "a.txt" },
  ];
  const answer = await ask(service, {
    messages: asked,
    tools,
    temperature: 0.7,
    top_p: 0.9,
    seed: 3,
    stop: ["END"],
    max_tokens: 64,
  });
  expect(answer.json()).toMatchObject({
    choices: [{ message: { role: "assistant", content: "Hello there." }, finish_reason: "stop" }],
    usage: { prompt_tokens: 11, completion_tokens: 5 },
  });
  const [chat] = chats();
  const decided = { top_k: -1, min_p: 0, repetition_penalty: 1, presence_penalty: 0, frequency_penalty: 0 };
  expect(chat?.headers.authorization).toBe(`Bearer ${TOKEN}`);
  expect(chat?.body).toEqual({
    model: "big-model",
    messages: asked,
    tools: tools,
    tool_choice: "auto",
    temperature: 0.7,
    top_p: 0.9,
    ...decided,
    seed: 3,
    stop: ["END"],
    max_tokens: 64,
    stream: true,
    stream_options: { include_usage: true },
  });
});

test.each([
  ["vllm", { temperature: 0, top_p: 1, top_k: -1, min_p: 0, repetition_penalty: 1 }],
  ["sglang", { temperature: 0, top_p: 1, top_k: -1, min_p: 0, repetition_penalty: 1 }],
  ["llamacpp", { temperature: 0, top_p: 1, top_k: 0, min_p: 0, repeat_penalty: 1, dry_multiplier: 0 }],
] as const)("greedy is greedy on %s, whatever its model or its start asks for", async (kind, decided) => {
  const { service, chats } = await begin({ kind });
  await ask(service);
  expect(chats()[0]?.body).toMatchObject(decided);
});

test("a server that is not known is told what was asked alone, and a template's argument goes on", async () => {
  const { service, chats } = await begin({ kind: "organization_owner" });
  await ask(service);
  await ask(service, { temperature: 1, top_k: 20, chat_template_kwargs: { enable_thinking: false } });
  for (const field of ["top_k", "min_p", "repetition_penalty"]) expect(chats()[0]?.body).not.toHaveProperty(field);
  expect(chats()[1]?.body).toMatchObject({ top_k: 20, chat_template_kwargs: { enable_thinking: false } });
});

const CALLS = [
  "I look.",
  { calls: [{ index: 0, id: "x", type: "function", function: { name: "bash", arguments: "" } }] },
  { calls: [{ index: 0, function: { arguments: '{"command":' } }] },
  { calls: [{ index: 0, function: { arguments: '"ls"}' } }] },
  { calls: [{ index: 1, id: "y", type: "function", function: { name: "bash", arguments: "{}" } }] },
];

test("calls that come in pieces are the same calls in all three APIs, whole and streamed", async () => {
  const { service } = await begin({ pieces: CALLS, finish: "tool_calls" });
  const chat = (await ask(service, { tools })).json();
  expect(chat.choices[0]).toMatchObject({
    finish_reason: "tool_calls",
    message: {
      content: "I look.",
      tool_calls: [
        { function: { name: "bash", arguments: '{"command":"ls"}' } },
        { function: { name: "bash", arguments: "{}" } },
      ],
    },
  });
  const responses = await service.post("/v1/responses", {
    model: "big-model",
    input: "Look.",
    tools: [{ type: "function", name: "bash", parameters: { type: "object" } }],
  });
  expect(responses.json().output).toMatchObject([
    { type: "message", content: [{ text: "I look." }] },
    { type: "function_call", name: "bash", arguments: '{"command":"ls"}' },
    { type: "function_call", name: "bash", arguments: "{}" },
  ]);
  const anthropic = { model: "big-model", max_tokens: 99, messages, tools: [{ name: "bash", input_schema: { type: "object" } }] };
  expect((await service.post("/v1/messages", anthropic)).json()).toMatchObject({
    stop_reason: "tool_use",
    content: [{ text: "I look." }, { name: "bash", input: { command: "ls" } }, { name: "bash", input: {} }],
    usage: { input_tokens: 11, output_tokens: 5 },
  });
  const streamed = (await ask(service, { tools, stream: true })).body;
  expect(streamed).toContain('"finish_reason":"tool_calls"');
  expect(streamed).toContain(JSON.stringify({ arguments: '{"command":"ls"}' }));
  expect((await service.post("/v1/messages/count_tokens", { model: "big-model", messages })).json()).toEqual({
    input_tokens: 11,
  });
});

test.each([
  [
    "a schema",
    { response_format: { type: "json_schema", json_schema: { name: "n", schema: { type: "object" } } } },
    "response_format",
  ],
  ["a choice", { tools, tool_choice: { type: "function", function: { name: "bash" } } }, "tool_choice"],
  ["one call at most", { tools, parallel_tool_calls: false }, "parallel_tool_calls"],
])("%s is left to the upstream", async (_what, body, field) => {
  const { service, chats } = await begin();
  expect((await ask(service, body)).statusCode).toBe(200);
  expect(chats()[0]?.body).toHaveProperty(field);
});

test.each([
  [401, { error: { message: "Unauthorized" } }, {}, 502, "upstream_unauthorized"],
  [404, { object: "error", message: "The model does not exist.", code: 404 }, {}, 404, "not_found"],
  [400, { detail: [{ msg: "bad" }] }, {}, 400, "prompt_refused"],
  [429, { error: { message: "slow down" } }, { "retry-after": "17" }, 429, "upstream_busy"],
  [503, { error: { message: "Loading model", type: "unavailable_error", code: 503 } }, {}, 503, "upstream_unreachable"],
  [500, { error: "boom" }, {}, 502, "upstream_failed"],
  [307, {}, { location: "http://127.0.0.1:1/" }, 502, "upstream_failed"],
  [
    400,
    {
      object: "error",
      message: "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens.",
      type: "BadRequestError",
      code: 400,
    },
    {},
    400,
    "context_length_exceeded",
  ],
  [
    400,
    {
      error: {
        code: 400,
        message: "request (9000 tokens) exceeds the available context size (8192 tokens), try increasing it",
        type: "exceed_context_size_error",
        n_prompt_tokens: 9000,
        n_ctx: 8192,
      },
    },
    {},
    400,
    "context_length_exceeded",
  ],
] as const)("an upstream that answers %i %j is told as what it means", async (status, body, headers, expected, code) => {
  const { service } = await begin({ refuse: ({ path }) => (path.includes("chat") ? [status, body, { ...headers }] : null) });
  const refused = await ask(service);
  expect([refused.statusCode, refused.json().error.code]).toEqual([expected, code]);
  expect(refused.body).not.toContain(TOKEN);
  if (status === 429) expect(refused.headers["retry-after"]).toBe("17");
  if (code === "context_length_exceeded") expect(refused.body).toMatch(/maximum context length is (4096|8192) tokens/);
});

test.each([
  ["a connection that breaks", { cutAfter: 1 }],
  ["an error in the middle", { errorAfter: 1 }],
])("%s is an error event of a stream that has begun, and an error of a whole answer", async (_what, options) => {
  const { service } = await begin(options);
  const streamed = await ask(service, { stream: true });
  expect(streamed.statusCode).toBe(200);
  expect(streamed.body).toContain('"content":"Hello"');
  expect(streamed.body).toContain("upstream_failed");
  expect(streamed.body).not.toContain("[DONE]");
  expect((await ask(service)).statusCode).toBe(502);
});

const LONG = "x".repeat(256 * 1024);

test.each([
  ["one event without a line's end", LONG, "an event of more than 4 MiB"],
  ["one event of many lines", `data: ${LONG}\n`, "an event of more than 4 MiB"],
  ["events without an end", `data: ${JSON.stringify({ choices: [{ delta: { content: LONG } }] })}\n\n`, "more than 16 MiB"],
  [
    "a call without an end",
    `data: ${JSON.stringify({ choices: [{ delta: { tool_calls: [{ index: 0, function: { arguments: LONG } }] } }] })}\n\n`,
    "more than 16 MiB",
  ],
])("an upstream that sends %s is broken off with a sentence", async (_what, endless, why) => {
  const { service } = await begin({ endless });
  const refused = await ask(service);
  expect([refused.statusCode, refused.json().error.code]).toEqual([502, "upstream_failed"]);
  expect(refused.json().error.message).toContain(why);
});

test("an upstream that is away at the start is asked again with the next chat, and what is here is answered meanwhile", async () => {
  const gone = await startFake();
  await gone.close();
  const service = await startService({ flags: { upstream: gone.url } });
  const away = await ask(service);
  expect([away.statusCode, away.json().error.code, away.headers["retry-after"]]).toEqual([503, "upstream_unreachable", "5"]);
  expect((await ask(service, { model: MODEL })).json().choices[0].message.content).toBe("base: Look around.");
  expect((await service.get("/v1/models")).json().data).toHaveLength(1);
  await startFake({ port: gone.port });
  expect((await ask(service)).json().choices[0].message.content).toBe("Hello there.");
  expect((await ask(service, { model: "nobody" })).statusCode).toBe(404);
});

test("a client that leaves ends the upstream's answer", async () => {
  const { fake, service } = await begin({ silentAfter: 1 });
  const left = new AbortController();
  const answer = await fetch(`${service.url}/v1/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ model: "big-model", messages, stream: true }),
    signal: left.signal,
  });
  const reader = answer.body?.getReader();
  await reader?.read();
  left.abort();
  await expect(reader?.read()).rejects.toThrow();
  fake.change({ silentAfter: undefined as never });
  expect((await ask(service)).statusCode).toBe(200);
});

test("a conversation with a model of the upstream is recorded here", async () => {
  const { service } = await begin({ pieces: CALLS, finish: "tool_calls" }, { record: true });
  await ask(service, { tools });
  await service.close(0);
  const again = await startService({ dataDir: service.dataDir });
  const { sessions } = (await again.get("/sessions")).json();
  expect(sessions).toHaveLength(1);
  expect(sessions[0]).toMatchObject({ format: "gateway" });
});

test("one service is another's upstream, and two that name each other do not ask for ever", async () => {
  const far = await startService({ flags: { base_model: makeModel(join(makeFolder(), "far-model")) } });
  const near = await startService({ flags: { upstream: far.url } });
  const answer = await ask(near, { model: "far-model", max_tokens: 9 });
  expect(answer.json().choices[0].message.content).toBe("base: Look around.");
  const ids = (await near.get("/v1/models")).json().data.map(({ id }: { id: string }) => id);
  expect(ids).toEqual([MODEL, "far-model"]);
  const loop = await startFake();
  await loop.close();
  const itself = await startService({ flags: { port: loop.port, upstream: loop.url } });
  expect((await itself.get("/v1/models")).json().data).toHaveLength(1);
});

test("a token in a file that others can read is refused", () => {
  const file = join(makeFolder(), "token");
  writeFileSync(file, TOKEN, { mode: 0o644 });
  return expect(startService({ flags: { upstream: "http://127.0.0.1:1", upstream_token_file: file } })).rejects.toThrow(
    "chmod 600",
  );
});

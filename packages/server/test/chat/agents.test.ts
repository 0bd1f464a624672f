import type { LightMyRequestResponse } from "fastify";
import { expect, test } from "vitest";
import { MODEL, type Service, startService } from "../support/service.js";

// Shapes of the requests that eight agents were seen to send, with texts of our own.

const parameters = { type: "object", properties: { command: { type: "string" } }, $schema: "x", additionalProperties: false };
const chatTool = (more: object = {}) => ({
  type: "function",
  function: { name: "bash", description: "Runs.", parameters, ...more },
});
const chatCall = { id: "c1", type: "function", function: { name: "bash", arguments: '{"command": "ls"}' } };
const chatResult = { role: "tool", tool_call_id: "c1", content: "a.txt" };
const said = [
  { role: "system", content: "You are an agent." },
  { role: "user", content: "Look." },
];
const streamed = { stream: true, stream_options: { include_usage: true } };

const opencode = { max_tokens: 4096, tools: [chatTool()], tool_choice: "auto", ...streamed };
const called = (assistant: object) => [...said, { role: "assistant", ...assistant, tool_calls: [chatCall] }, chatResult];

const codex = {
  stream: true,
  tool_choice: "auto",
  parallel_tool_calls: true,
  reasoning: { summary: "auto" },
  store: false,
  include: ["reasoning.encrypted_content"],
  prompt_cache_key: "k",
  client_metadata: { thread_id: "t" },
  tools: [
    { type: "function", name: "bash", description: "Runs.", strict: false, parameters },
    {
      type: "namespace",
      name: "multi_agent_v1",
      description: "Agents.",
      tools: [{ type: "function", name: "close_agent", description: "Closes.", strict: false, parameters }],
    },
    { type: "web_search", external_web_access: true },
  ],
  input: [
    { type: "message", id: "1", role: "developer", content: [{ type: "input_text", text: "Rules." }] },
    {
      type: "message",
      id: "2",
      role: "developer",
      content: [
        { type: "input_text", text: "More." },
        { type: "input_text", text: "Rules." },
      ],
    },
    { type: "message", id: "3", role: "user", content: [{ type: "input_text", text: "Look." }] },
    { type: "reasoning", id: "4", summary: [], encrypted_content: "x" },
    { type: "function_call", status: "completed", id: "5", name: "bash", arguments: "{}", call_id: "c1" },
    { type: "function_call_output", id: "6", call_id: "c1", output: "a.txt" },
    { type: "function_call", name: "close_agent", namespace: "multi_agent_v1", arguments: "{}", call_id: "c2" },
    { type: "function_call_output", call_id: "c2", output: "closed" },
  ],
};

const cached = { cache_control: { type: "ephemeral" } };
const claudeCode = {
  max_tokens: 32000,
  stream: true,
  metadata: { user_id: "u" },
  thinking: { type: "adaptive" },
  context_management: { edits: [{ type: "clear_thinking_20251015", keep: "all" }] },
  output_config: { effort: "high" },
  system: [
    { type: "text", text: "You are an agent." },
    { type: "text", text: "Rules.", ...cached },
  ],
  tools: [{ name: "Write", description: "Writes.", input_schema: parameters }],
  messages: [
    {
      role: "user",
      content: [
        { type: "text", text: "Here is your folder." },
        { type: "text", text: "Look." },
      ],
    },
    { role: "system", content: "A reminder." },
    {
      role: "assistant",
      content: [
        { type: "thinking", thinking: "Hm.", signature: "s" },
        { type: "tool_use", id: "t1", name: "Write", input: { command: "ls" } },
      ],
    },
    { role: "user", content: [{ tool_use_id: "t1", type: "tool_result", content: "done", is_error: false, ...cached }] },
  ],
};

const CHAT = "/v1/chat/completions";
const REQUESTS: readonly (readonly [string, string, object])[] = [
  ["opencode's first turn", CHAT, { ...opencode, messages: said }],
  ["opencode after the tool", CHAT, { ...opencode, messages: called({ content: "" }) }],
  ["Cline", CHAT, { ...streamed, tools: [chatTool()], tool_choice: "auto", messages: called({ content: "" }) }],
  ["Continue", CHAT, { stream: true, tools: [chatTool()], messages: said }],
  [
    "pi",
    CHAT,
    {
      ...streamed,
      store: false,
      max_completion_tokens: 4096,
      tools: [chatTool({ strict: false })],
      messages: called({ content: null }),
    },
  ],
  ["mini-swe-agent", CHAT, { tools: [chatTool()], messages: called({ provider_specific_fields: { refusal: null } }) }],
  ["aider", CHAT, { stream: true, temperature: 0, messages: [...said, { role: "assistant", content: "Ok." }, said[1]] }],
  ["Codex", "/v1/responses", codex],
  ["Claude Code", "/v1/messages?beta=true", claudeCode],
];

const ask = async (service: Service, url: string, body: object): Promise<LightMyRequestResponse> =>
  service.post(url, { model: MODEL, ...body });

test("what eight agents send is answered, and what comes back is whole", async () => {
  const service = await startService({ behaviour: { script: ["Done."], pieces: 5 } });
  for (const [name, url, body] of REQUESTS) {
    const response = await ask(service, url, body);
    expect([name, response.statusCode, response.body.includes("Done.")]).toEqual([name, 200, true]);
  }
});

test("a call of a tool in a namespace comes back with it, and its result reaches the model under one name", async () => {
  const call = '<tool_call>\n{"name": "multi_agent_v1__close_agent", "arguments": {}}\n</tool_call>';
  const service = await startService({ behaviour: { script: [call] } });
  const { output } = (await ask(service, "/v1/responses", { ...codex, stream: false })).json();
  expect(output).toMatchObject([{ type: "function_call", name: "close_agent", namespace: "multi_agent_v1", arguments: "{}" }]);
});

test("a probe of the address is answered", async () => {
  const service = await startService();
  expect((await service.call({ method: "HEAD", url: "/" })).statusCode).toBe(200);
});

test("a thousand messages and ten megabytes are read", async () => {
  const service = await startService({ behaviour: { script: ["Done."], pieces: 5 } });
  const messages = Array.from({ length: 1001 }, (_, at) => ({
    role: at % 2 === 0 ? "user" : "assistant",
    content: "x".repeat(10_000),
  }));
  expect((await ask(service, CHAT, { messages })).json()).toMatchObject({ choices: [{ message: { content: "Done." } }] });
});

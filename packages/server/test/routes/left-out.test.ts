import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { MODEL, type Service, startService } from "../support/service.js";

const CHAT = "/v1/chat/completions";
const RESPONSES = "/v1/responses";
const MESSAGES = "/v1/messages";

const parameters = { type: "object", properties: { command: { type: "string" } } };
const ask = (service: Service, url: string, body: object, headers: Record<string, string> = {}) =>
  service.call({ method: "POST", url, payload: { model: MODEL, ...(url === MESSAGES && { max_tokens: 64 }), ...body }, headers });

const user = (...content: object[]) => ({ role: "user", content });
const text = (words: string, type = "text") => ({ type, text: words });

// Histories with an image and a document before a last message in words.
const chatHistory = [
  user({ type: "image_url", image_url: { url: "data:," } }),
  { role: "assistant", content: "Nice." },
  user(text("look"), { type: "file", file: {} }, { type: "image_url", image_url: { url: "data:," } }),
];
const responsesHistory = [
  user({ type: "input_image", image_url: "data:," }),
  { role: "assistant", content: [text("Nice.", "output_text")] },
  user(text("look", "input_text"), { type: "input_file", file_id: "f" }, { type: "input_image", image_url: "data:," }),
];
const messagesHistory = [
  user({ type: "image", source: {} }),
  { role: "assistant", content: "Nice." },
  user(text("look"), { type: "document", source: {} }, { type: "image", source: {} }),
];

test.each<[string, object, string]>([
  [CHAT, { messages: chatHistory }, "look\\n[file]\\n[image]"],
  [RESPONSES, { input: responsesHistory }, "look\\n[file]\\n[image]"],
  [MESSAGES, { messages: messagesHistory }, "look\\n[document]\\n[image]"],
])("%s shows the model images and documents in words", async (url, body, shown) => {
  const response = await ask(await startService(), url, body);
  expect([response.statusCode, response.headers["x-imprint-left-out"]]).toEqual([200, undefined]);
  expect(response.body).toContain(`base: ${shown}`);
});

test.each<[string, object, string]>([
  [CHAT, { messages: [user({ type: "image_url" }, text(" "))] }, "messages.0.content.0"],
  [RESPONSES, { input: [user({ type: "input_image" })] }, "input.0.content.0"],
  [MESSAGES, { messages: [user(text(""), { type: "image" })] }, "messages.0.content.1"],
])("%s refuses a question that is an image alone, by its place", async (url, body, place) => {
  const response = await ask(await startService(), url, body);
  expect(response.statusCode).toBe(400);
  expect(response.body).toContain(place);
});

test("an image that a tool gave back ends no agent's loop", async () => {
  const service = await startService({ behaviour: { script: ["Seen."] } });
  const called = { role: "assistant", content: [{ type: "tool_use", id: "t1", name: "Read", input: {} }] };
  const result = { type: "tool_result", tool_use_id: "t1", content: [{ type: "image", source: {} }] };
  const tools = [{ name: "Read", input_schema: parameters }];
  const response = await ask(service, MESSAGES, { tools, messages: [user(text("Look.")), called, user(result)] });
  expect(response.json()).toMatchObject({ content: [{ type: "text", text: "Seen." }] });
});

const chatCalls = [
  { id: "c1", type: "function", function: { name: "bash", arguments: "{}" } },
  { id: "c2", type: "custom", custom: { name: "grep", input: "x" } },
];
const UNREAD: readonly (readonly [string, object, string])[] = [
  [
    CHAT,
    {
      tools: [
        { type: "function", function: { name: "bash", parameters } },
        { type: "custom", custom: { name: "grep" } },
      ],
      messages: [
        user(text("Go."), { type: "video", video: {} }),
        { role: "assistant", content: null, tool_calls: chatCalls },
        { role: "tool", tool_call_id: "c1", content: "a" },
        { role: "tool", tool_call_id: "c2", content: "b" },
      ],
    },
    "part video, call custom, tool custom",
  ],
  [
    RESPONSES,
    {
      tools: [
        { type: "local_shell" },
        { type: "namespace", name: "n", tools: [{ type: "mcp", name: "grep" }] },
        { type: "function", name: "bash", parameters },
      ],
      input: [
        user(text("Go.", "input_text")),
        { type: "computer_call", call_id: "c1", action: {}, name: 7 },
        { type: "computer_call_output", call_id: "c1", output: { type: "computer_screenshot" } },
        { type: "local_shell_call", call_id: "c2", action: {} },
        { type: "function_call_output", call_id: "c2", output: "a" },
        { role: "user", content: "On." },
      ],
    },
    "tool local_shell, tool mcp, item computer_call, item computer_call_output, item local_shell_call",
  ],
  [
    MESSAGES,
    {
      tools: [
        { type: "web_search_20250305", name: "web_search" },
        { name: "bash", input_schema: parameters },
      ],
      messages: [
        user(text("Go.")),
        {
          role: "assistant",
          content: [
            { type: "server_tool_use", id: "s", name: "web_search", input: {} },
            { type: "web_search_tool_result", tool_use_id: "s", content: { type: "web_search_tool_result_error" } },
            text("Found."),
          ],
        },
        user(text("On.")),
      ],
    },
    "block server_tool_use, block web_search_tool_result, tool web_search_20250305",
  ],
];

test.each(UNREAD)("%s leaves out what it cannot read, and names it", async (url, body, names) => {
  const service = await startService({ behaviour: { script: ["Done."], pieces: 5 } });
  const response = await ask(service, url, body);
  expect([response.statusCode, response.body.includes("Done.")]).toEqual([200, true]);
  const said = String(response.headers["x-imprint-left-out"]).split(", ");
  expect(said.toSorted()).toEqual(names.split(", ").toSorted());
  const streamed = await ask(service, url, { ...body, stream: true });
  expect(streamed.headers["x-imprint-left-out"]).toBe(response.headers["x-imprint-left-out"]);
});

test("a name that no header can hold is told without what it cannot", async () => {
  const response = await ask(await startService(), CHAT, {
    messages: [user(text("hello"), { type: "b\r\nset-cookie: x\u{1f998}" })],
  });
  expect(response.headers["x-imprint-left-out"]).toMatch(/^part b\?\?set-cookie: x\?+$/);
});

test("a tool that is known and wrong is refused by its field", async () => {
  const service = await startService();
  const tools = [{ type: "function", function: { name: "no name" } }];
  const response = await ask(service, CHAT, { tools, messages: [user(text("Go."))] });
  expect(response.json()).toMatchObject({ error: { param: "tools.0.function.name" } });
});

const LINE = "x-anthropic-billing-header: cc_version=2.1.197; cch=";

test("the line of Claude Code's that changes with each request is neither asked nor stored, and parts no session", async () => {
  const service = await startService({ behaviour: { script: ["One.", "Two."] } });
  const headers = { "x-imprint-record": "1" };
  const system = (number: number) => [text(`${LINE}${number};`), text("Be brief.")];
  const messages = [{ role: "user", content: "Go." }];
  await ask(service, MESSAGES, { system: system(1), messages }, headers);
  const grown = [...messages, { role: "assistant", content: "One." }, { role: "user", content: "On." }];
  await ask(service, MESSAGES, { system: system(2), messages: grown }, headers);
  await service.close(0);
  const folder = join(service.dataDir, "sessions");
  const stored = readdirSync(folder).filter((name) => name.endsWith(".json"));
  expect(stored).toHaveLength(1);
  const { steps } = JSON.parse(readFileSync(join(folder, stored[0] ?? ""), "utf8"));
  expect(steps[0]).toMatchObject({ source: "system", text: "Be brief." });
});

const named = { type: "object", properties: { constructor: { type: "string" }, prototype: { type: "object" } } };

test.each<[string, object]>([
  [CHAT, { messages: [user(text("Go."))], tools: [{ type: "function", function: { name: "bash", parameters: named } }] }],
  [RESPONSES, { input: "Go.", tools: [{ type: "function", name: "bash", parameters: named }] }],
  [
    MESSAGES,
    {
      tools: [{ name: "bash", input_schema: named }],
      messages: [
        user(text("Go.")),
        { role: "assistant", content: [{ type: "tool_use", id: "t", name: "bash", input: { constructor: "x" } }] },
        user({ type: "tool_result", tool_use_id: "t", content: "ok" }),
      ],
    },
  ],
])("%s takes a tool whose properties are called constructor and prototype", async (url, body) => {
  const service = await startService({ behaviour: { script: ["Done."], pieces: 5 } });
  const response = await ask(service, url, body, { "x-imprint-record": "1" });
  expect([response.statusCode, response.body.includes("Done.")]).toEqual([200, true]);
  await vi.waitFor(async () => expect((await service.get("/sessions")).json().sessions).toHaveLength(1), { timeout: 15_000 });
});

import { expect, test } from "vitest";
import { MODEL, startLora, startService } from "../../support/service.js";
import { putSession } from "../../support/session.js";

const messages = [{ role: "user", content: "hello there" }];

test("the base model and an adapter answer a chat", async () => {
  const service = await startService();
  putSession(service.dataDir, "s1");
  await service.ended(await startLora(service, { session_id: "s1", adapter_id: "mine" }));
  const base = await service.post("/v1/chat/completions", { model: MODEL, messages });
  expect(base.json()).toMatchObject({
    object: "chat.completion",
    model: MODEL,
    choices: [{ index: 0, message: { role: "assistant", content: "base: hello there" }, finish_reason: "stop" }],
    usage: { prompt_tokens: 2, completion_tokens: 3, total_tokens: 5 },
  });
  const adapted = await service.post("/v1/chat/completions", {
    model: "mine",
    messages,
    max_tokens: 8,
    temperature: 0.5,
    seed: 7,
  });
  expect(adapted.json().choices[0].message.content).toBe("adapter: hello there");
  const ids = (await service.get("/v1/models")).json().data.map((model: { id: string }) => model.id);
  expect(ids).toEqual([MODEL, "mine"]);
});

test("text in parts, a developer's words and OpenAI's nulls are what the plain request is", async () => {
  const service = await startService();
  const response = await service.post("/v1/chat/completions", {
    model: MODEL,
    messages: [
      { role: "developer", content: "Be brief." },
      {
        role: "user",
        content: [
          { type: "text", text: "hello" },
          { type: "text", text: "there" },
        ],
      },
    ],
    tools: [{ type: "function", function: { name: "ls", parameters: { type: "object" } } }],
    max_completion_tokens: 8,
    max_tokens: null,
    temperature: null,
    top_p: 0.5,
    stop: ["END", "\n\n"],
    n: 1,
    stream: false,
  });
  expect(response.json().choices[0].message.content).toBe("base: hello\nthere");
});

test.each([
  ["an unknown model", { model: "nobody" }, 404, null],
  ["no messages", { messages: [] }, 400, "messages"],
  ["an unknown field", { functions: [] }, 400, "functions"],
  ["a schema that the engine cannot enforce", { response_format: { type: "json_object" } }, 400, null],
  ["a penalty", { presence_penalty: 1 }, 400, "presence_penalty"],
  ["a result of no call", { messages: [...messages, { role: "tool", tool_call_id: "c1", content: "x" }] }, 400, "messages"],
  ["a choice of a tool that is not there", { tool_choice: { type: "function", function: { name: "rm" } } }, 400, "tool_choice"],
  ["a wrong role", { messages: [{ role: "root", content: "x" }] }, 400, "messages.0.role"],
  ["an image", { messages: [{ role: "user", content: [{ type: "image_url" }] }] }, 400, "messages.0.content.0"],
  ["text for a number", { max_tokens: "8" }, 400, "max_tokens"],
  ["two limits", { max_tokens: 8, max_completion_tokens: 9 }, 400, "max_completion_tokens"],
  ["several answers", { n: 2 }, 400, "n"],
  ["five stop texts", { stop: ["a", "b", "c", "d", "e"] }, 400, "stop"],
  ["an empty stop text", { stop: "" }, 400, "stop"],
  ["options of a stream that is none", { stream_options: { include_usage: true } }, 400, "stream_options"],
  ["a penalty for repeating", { repeat_penalty: 1.1 }, 400, "repeat_penalty"],
  ["a template's argument that reaches none", { chat_template_kwargs: { thinking: true } }, 400, "chat_template_kwargs.thinking"],
])("a chat with %s is refused in OpenAI's shape", async (_case, change, status, param) => {
  const service = await startService();
  const response = await service.post("/v1/chat/completions", { model: MODEL, messages, ...change });
  expect(response.statusCode).toBe(status);
  expect(response.json()).toEqual({
    error: { message: expect.any(String), type: "invalid_request_error", param, code: expect.any(String) },
  });
});

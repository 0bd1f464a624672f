import { expect, test } from "vitest";
import { MODEL, startLora, startService } from "../support/service.js";
import { putSession } from "../support/session.js";

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

test.each([
  ["an unknown model", { model: "nobody", messages }, 404],
  ["no messages", { model: MODEL, messages: [] }, 422],
  ["an unknown field", { model: MODEL, messages, stream: true }, 422],
  ["a wrong role", { model: MODEL, messages: [{ role: "root", content: "x" }] }, 422],
  ["text for a number", { model: MODEL, messages, max_tokens: "8" }, 422],
])("a chat with %s is refused in OpenAI's shape", async (_case, body, status) => {
  const service = await startService();
  const response = await service.post("/v1/chat/completions", body);
  expect(response.statusCode).toBe(status);
  expect(response.json()).toEqual({
    error: {
      message: expect.any(String),
      type: "invalid_request_error",
      param: status === 404 ? null : expect.any(String),
      code: expect.any(String),
    },
  });
});

import { existsSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { MODEL, makeFolder, type Service, startService } from "../../support/service.js";

const messages = [{ role: "user", content: "grüße the 🦘 there" }];
const ERROR = { code: "PROMPT_REFUSED", message: "The prompt of 9000 tokens is too long.", hint: "Shorten it." };

const body = (more: object = {}) => JSON.stringify({ model: MODEL, messages, stream: true, ...more });

const post = (service: Service, more: object = {}, init: RequestInit = {}): Promise<Response> =>
  fetch(`${service.url}/v1/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: body(more),
    ...init,
  });

const dataOf = (text: string): string[] =>
  text
    .split("\n\n")
    .slice(0, -1)
    .map((event) => event.replace(/^data: /, ""));

test("a streamed answer has the role, the text as it is generated, the reason of its end, and DONE", async () => {
  const service = await startService();
  const response = await post(service);
  expect(response.headers.get("content-type")).toBe("text/event-stream; charset=utf-8");
  expect(response.headers.get("x-content-type-options")).toBe("nosniff");
  const data = dataOf(await response.text());
  expect(data.pop()).toBe("[DONE]");
  const chunks = data.map((line) => JSON.parse(line));
  const [first] = chunks;
  for (const chunk of chunks)
    expect(chunk).toEqual({
      id: first.id,
      created: first.created,
      object: "chat.completion.chunk",
      model: MODEL,
      choices: [{ index: 0, delta: expect.any(Object), finish_reason: chunk === chunks.at(-1) ? "stop" : null }],
    });
  expect(first.choices[0].delta).toEqual({ role: "assistant", content: "" });
  expect(chunks.at(-1).choices[0].delta).toEqual({});
  expect(chunks.map(({ choices }) => choices[0].delta.content ?? "").join("")).toBe("base: grüße the 🦘 there");
});

test("the usage is the last chunk, for those who ask", async () => {
  const service = await startService();
  const data = dataOf(await (await post(service, { stream_options: { include_usage: true } })).text());
  const chunks = data.slice(0, -1).map((line) => JSON.parse(line));
  const usage = { prompt_tokens: 4, completion_tokens: 5, total_tokens: 9 };
  expect(chunks.pop()).toMatchObject({ choices: [], usage });
  for (const chunk of chunks) expect(chunk.usage).toBeNull();
});

test("what fails before the first word is an error answer, what fails later an error in the stream", async () => {
  const early = await post(await startService({ behaviour: { fail_chats: ERROR } }));
  expect([early.status, await early.json()]).toMatchObject([400, { error: { code: "prompt_refused", param: null } }]);
  const late = await post(await startService({ behaviour: { fail_chats: ERROR, hold_after: 2 } }));
  expect(late.status).toBe(200);
  const data = dataOf(await late.text());
  expect(data.at(-1)).toBe(
    JSON.stringify({
      error: { message: `${ERROR.message} ${ERROR.hint}`, type: "invalid_request_error", param: null, code: "prompt_refused" },
    }),
  );
});

/** A stream of which two words were read, and that goes no further. */
const startHeld = async () => {
  const held = join(makeFolder(), "held");
  const service = await startService({ behaviour: { hold_chats: held, hold_after: 2 } });
  const client = new AbortController();
  const response = await post(service, {}, { signal: client.signal });
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  let text = "";
  while (!text.includes("grüße")) text += new TextDecoder().decode((await reader.read()).value);
  await vi.waitFor(() => expect(existsSync(held)).toBe(true));
  return { service, client, reader };
};

test("a client that leaves in the middle stops the generation: the trainer takes the next chat", async () => {
  const { service, client, reader } = await startHeld();
  const second = post(service);
  client.abort();
  await expect(reader.read()).rejects.toThrow();
  const next = await second;
  expect(next.status).toBe(200);
  await next.body?.cancel();
});

test("a service that stops ends its streams with an error, and does not wait for readers", async () => {
  const { service, reader } = await startHeld();
  const stopped = service.close(0);
  let text = "";
  for (let step = await reader.read(); !step.done; step = await reader.read()) text += new TextDecoder().decode(step.value);
  expect(text).toContain('"code":"shutting_down"');
  await stopped;
});

test("a hundred open streams, of which no reader takes anything, keep the service from nothing", async () => {
  const { service } = await startHeld();
  const { hostname, port } = new URL(service.url);
  const head = `POST /v1/chat/completions HTTP/1.1\r\nHost: ${hostname}:${port}\r\nContent-Type: application/json`;
  const request = `${head}\r\nContent-Length: ${Buffer.byteLength(body())}\r\n\r\n${body()}`;
  const asked = Array.from(
    { length: 99 },
    () =>
      new Promise<Socket>((resolve) => {
        const socket = connect(Number(port), hostname, () => socket.write(request, () => resolve(socket.pause())));
        socket.on("error", () => undefined);
      }),
  );
  const sockets = await Promise.all(asked);
  await service.close(0);
  for (const socket of sockets) socket.destroy();
});

import { expect, it } from "vitest";
import { AbortError, ApiError, type ChatChunk, ConnectionError } from "../../src/index.js";
import { type Reply, service } from "../support/service.js";

const request = { model: "a", messages: [{ role: "user", content: "hi" }], stream: true } as const;

const chunk = (content: string) => JSON.stringify({ choices: [{ index: 0, delta: { content }, finish_reason: null }] });

const stream = (close: "end" | "silence", ...data: readonly string[]): Reply => ({
  stream: data.map((one) => `data: ${one}\n\n`),
  close,
});

async function read(chunks: AsyncIterable<ChatChunk>): Promise<string> {
  let text = "";
  for await (const { choices } of chunks) text += choices[0]?.delta.content ?? "";
  return text;
}

it("reads a streamed answer to its end", async () => {
  const { client, seen } = await service([stream("end", chunk("grü"), chunk("ße"), "[DONE]")]);
  expect(await read(await client.chat.completions.create(request))).toBe("grüße");
  expect(JSON.parse(seen[0]?.body ?? "")).toEqual(request);
});

it("rejects what is refused before the answer begins", async () => {
  const body = { error: { message: "Field n must be one of 1.", code: "validation_failed" } };
  const { client } = await service([{ status: 400, body }]);
  const refused = client.chat.completions.create(request);
  await expect(refused).rejects.toMatchObject({ name: "ApiError", status: 400 });
  await expect(refused).rejects.toMatchObject({ code: "VALIDATION_FAILED", detail: "Field n must be one of 1." });
});

it("throws what goes wrong in the middle, after the text before it", async () => {
  const error = JSON.stringify({ error: { message: "The trainer died.", code: "worker_crashed" } });
  const { client } = await service([stream("end", chunk("half"), error), stream("end", chunk("half"))]);
  const chunks = (await client.chat.completions.create(request))[Symbol.asyncIterator]();
  expect((await chunks.next()).value?.choices[0]?.delta.content).toBe("half");
  const failed = chunks.next();
  await expect(failed).rejects.toBeInstanceOf(ApiError);
  await expect(failed).rejects.toMatchObject({ code: "WORKER_CRASHED" });
  await expect(read(await client.chat.completions.create(request))).rejects.toBeInstanceOf(ConnectionError);
});

it("an abort ends the stream with an AbortError", async () => {
  const gone = new AbortController();
  const { client } = await service([stream("silence", chunk("half"))]);
  const chunks = await client.chat.completions.create(request, { signal: gone.signal });
  const text = (async () => {
    for await (const _ of chunks) gone.abort();
  })();
  await expect(text).rejects.toBeInstanceOf(AbortError);
});

import type {
  ChatChunk,
  ChatCompletion,
  MessageBlock,
  MessageObject,
  ResponseItem,
  ResponseObject,
  StopReason,
} from "@imprint/contracts";
import fc from "fast-check";
import Fastify from "fastify";
import { expect, onTestFinished, test } from "vitest";
import { type AnswerEvent, wholeAnswer } from "../../src/chat/answer.js";
import type { Clock } from "../../src/common/clock.js";
import { abortable, defer } from "../../src/common/promises.js";
import { addDeadlines } from "../../src/http/deadline.js";
import { type StreamEncoder, sendStream } from "../../src/routes/answer-stream.js";
import { messageObject, messagesEncoder } from "../../src/routes/anthropic/messages-answer.js";
import { chunkEncoder, completionOf } from "../../src/routes/openai/chat-answer.js";
import { responseOf, responsesEncoder } from "../../src/routes/openai/responses-answer.js";
import { again, eventsOf, TWO_CALLS } from "../chat/support.js";
import { manualClock } from "../common/manual-clock.js";

/** What the events of three vendors hold, as far as their clients look at it. */
interface Data {
  readonly type?: string;
  readonly choices?: ChatChunk["choices"];
  readonly item?: ResponseItem;
  readonly response?: ResponseObject;
  readonly index?: number;
  readonly content_block?: MessageBlock;
  readonly delta?: {
    readonly type?: string;
    readonly text?: string;
    readonly partial_json?: string;
    readonly stop_reason?: StopReason;
  };
}

const HEAD = { id: "one", created: 0, model: "m" };

const dataOf = (events: readonly AnswerEvent[], { encode }: StreamEncoder): Data[] =>
  events
    .flatMap((event) => encode(event).split("\n"))
    .filter((line) => line.startsWith("data: {"))
    .map((line) => JSON.parse(line.slice("data: ".length)));

/** What a client of chat completions makes of the chunks. */
const chatFrom = (chunks: readonly Data[]): ChatCompletion["choices"][number] => {
  let content = "";
  let finish_reason: ChatCompletion["choices"][number]["finish_reason"] = "stop";
  const calls: { id: string; type: "function"; function: { name: string; arguments: string } }[] = [];
  for (const { choices } of chunks)
    for (const choice of choices ?? []) {
      content += choice.delta.content ?? "";
      for (const { index, id, function: of } of choice.delta.tool_calls ?? []) {
        calls[index] ??= { id: id ?? "", type: "function", function: { name: of.name ?? "", arguments: "" } };
        calls[index].function.arguments += of.arguments;
      }
      finish_reason = choice.finish_reason ?? finish_reason;
    }
  const message = { role: "assistant", content: content === "" && calls.length > 0 ? null : content } as const;
  return { index: 0, message: calls.length > 0 ? { ...message, tool_calls: calls } : message, finish_reason };
};

/** What Codex makes of the events: finished items, and the last word. */
const responseFrom = (events: readonly Data[]): Pick<ResponseObject, "output"> & Partial<ResponseObject> => {
  const output = events.flatMap(({ type, item }) => (type === "response.output_item.done" && item ? [item] : []));
  const { status, usage } = events.at(-1)?.response ?? BEGUN;
  return { output, status, usage };
};

/** What Claude Code makes of the events: blocks by their index. */
const messageFrom = (events: readonly Data[]): Pick<MessageObject, "content" | "stop_reason"> => {
  const content: MessageBlock[] = [];
  let stop_reason: MessageObject["stop_reason"] = null;
  for (const { type, index = 0, content_block, delta } of events) {
    if (type === "content_block_start" && content_block) content[index] = content_block;
    const block = content[index];
    if (delta?.type === "text_delta" && block?.type === "text") content[index] = { ...block, text: block.text + delta.text };
    if (delta?.partial_json !== undefined && block?.type === "tool_use")
      content[index] = { ...block, input: JSON.parse(delta.partial_json) };
    if (type === "message_delta") stop_reason = delta?.stop_reason ?? null;
  }
  return { content, stop_reason };
};

const fixed = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value), (key, inner) => (key === "id" || key === "call_id" ? "" : inner));

const BEGUN = { id: "", output: [], status: "in_progress" } as unknown as ResponseObject;
const RESPONSES = {
  response: BEGUN,
  toolNames: new Map([["bash", { type: "function" as const, name: "bash", namespace: "shell" }]]),
};

/** Each API's answer, whole and out of its stream. */
const apisOf = async (pieces: readonly string[], finish_reason: "stop" | "length") => {
  const events = await eventsOf(pieces, { result: { finish_reason } });
  const answer = await wholeAnswer(again(events));
  const { output, status, usage } = responseOf(answer, RESPONSES);
  const { content, stop_reason } = messageObject(answer, HEAD);
  const whole = [completionOf(answer, HEAD).choices[0], { output, status, usage }, { content, stop_reason }];
  const streamed = [
    chatFrom(dataOf(events, chunkEncoder({ head: HEAD, includeUsage: false }))),
    responseFrom(dataOf(events, responsesEncoder(RESPONSES))),
    messageFrom(dataOf(events, messagesEncoder(HEAD))),
  ];
  return { whole: fixed(whole), streamed: fixed(streamed) };
};

const word = fc.oneof(
  fc.constantFrom(TWO_CALLS, "<tool_call>", "</tool_call>", '{"name": "bash", "arguments": "ls"}', "\n", '{"name": '),
  fc.string({ unit: "grapheme", maxLength: 8 }),
);

test("however the text is torn, each API's stream adds up to its whole answer, which is the same", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(word, { maxLength: 6 }),
      fc.constantFrom("stop", "length"),
      fc.nat(12),
      async (words, finish_reason, size) => {
        const text = words.join("");
        const one = await apisOf([text], finish_reason);
        const pieces = text.match(new RegExp(`.{1,${size + 1}}`, "gsu")) ?? [];
        expect(one.streamed).toEqual(one.whole);
        expect(await apisOf(pieces, finish_reason)).toEqual(one);
      },
    ),
    { numRuns: 300 },
  );
});

const headsOf = (events: readonly AnswerEvent[], { encode }: StreamEncoder): string[] =>
  events.flatMap((event) => encode(event).split("\n\n").slice(0, -1)).map((frame) => frame.split("\n", 1)[0] ?? "");

const encodersOf = () => [chunkEncoder({ head: HEAD, includeUsage: false }), responsesEncoder(RESPONSES), messagesEncoder(HEAD)];

test("while nothing is there each API gives the sign of life that its clients count", () => {
  const [chat, responses, messages] = encodersOf().map((encoder) => headsOf([{ type: "idle" }, { type: "idle" }], encoder));
  expect(chat?.slice(1)).toEqual([": keep-alive", ": keep-alive"]);
  expect(responses).toEqual(["response.created", "response.in_progress", "response.in_progress"].map((name) => `event: ${name}`));
  expect(messages).toEqual(["message_start", "ping", "ping"].map((name) => `event: ${name}`));
});

test("Responses say of text that was cut off that it is not whole, and of nothing else", async () => {
  const { whole } = await apisOf([TWO_CALLS, "And the"], "length");
  const [, { output }] = whole as [unknown, Pick<ResponseObject, "output">];
  expect(output.map((item) => item.status)).toEqual(["completed", "completed", "completed", "completed", "incomplete"]);
});

test("a stream that begins late says its prompt's length at the end", () => {
  const end = { reason: "stop", stop_text: "END", prompt_tokens: 7, completion_tokens: 5 } as const;
  const late = [{ type: "idle" }, { type: "begin", prompt_tokens: 7 }, { type: "end", end }] as const;
  const [chat, responses, messages] = [chunkEncoder({ head: HEAD, includeUsage: true }), ...encodersOf().slice(1)].map(
    (encoder) => late.map(encoder.encode).join(""),
  );
  expect(chat).toContain('"usage":{"prompt_tokens":7,"completion_tokens":5,"total_tokens":12}');
  expect(responses).toContain('"usage":{"input_tokens":7');
  expect(messages).toContain(
    '"delta":{"stop_reason":"stop_sequence","stop_sequence":"END"},"usage":{"input_tokens":7,"output_tokens":5',
  );
});

/** A stream that first has nothing to say, then a word, each when it is let, on a service of this clock. */
const startStream = async (clock: Clock) => {
  const app = Fastify();
  onTestFinished(() => app.close());
  addDeadlines(app, { clock });
  const [word, end] = [defer<void>(), defer<void>()];
  async function* events(signal: AbortSignal): AsyncGenerator<AnswerEvent, void> {
    yield { type: "idle" };
    await abortable(word.promise, signal);
    yield { type: "text", text: "Hello" };
    await abortable(end.promise, signal);
    yield { type: "end", end: { reason: "stop", stop_text: null, prompt_tokens: 1, completion_tokens: 1 } };
  }
  app.get("/v1/chat/completions", { config: { timeoutMs: 1_000 } }, (request, reply) =>
    sendStream(events(request.cancelled), chunkEncoder({ head: HEAD, includeUsage: false }), { request, reply }),
  );
  const url = await app.listen({ port: 0, host: "127.0.0.1" });
  const response = await fetch(`${url}/v1/chat/completions`);
  const reader = (response.body as ReadableStream<Uint8Array>).pipeThrough(new TextDecoderStream()).getReader();
  const until = async (words: string): Promise<void> => {
    for (let text = ""; !text.includes(words); ) {
      const { value, done } = await reader.read();
      if (done) throw new Error(`the stream ended without ${words}`);
      text += value;
    }
  };
  await until(": keep-alive");
  return { word, end, until };
};

test("a stream whose first word is late is ended with an error, though its head is sent", async () => {
  const clock = manualClock();
  const { until } = await startStream(clock);
  clock.advance(1_000);
  await until('"code":"deadline_exceeded"');
});

test("a stream that has begun takes as long as it takes", async () => {
  const clock = manualClock();
  const { word, end, until } = await startStream(clock);
  word.resolve();
  await until("Hello");
  expect(clock.armed()).toBe(0);
  clock.advance(1_000_000);
  end.resolve();
  await until("[DONE]");
});

import fc from "fast-check";
import { expect, it } from "vitest";
import { type Message, messagesOf } from "../../src/events/messages.js";

/** What is read of a stream that comes in these pieces. */
const read = async (pieces: readonly Uint8Array[]): Promise<readonly Message[]> => {
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      for (const piece of pieces) controller.enqueue(piece);
      controller.close();
    },
  });
  const messages: Message[] = [];
  for await (const message of messagesOf(body)) messages.push(message);
  return messages;
};
const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);
const whole = (text: string): Promise<readonly Message[]> => read([bytesOf(text)]);

const line = fc.oneof(
  fc.constantFrom("", "", "data", "data:", "event: status", "id: 7", "id", "id: a\0b", ": comment", "retry: 5", "unknown: x"),
  fc.string({ maxLength: 12 }).map((text) => `data: ${text}`),
  fc.string({ unit: "grapheme", maxLength: 8 }).map((text) => `data:${text}`),
);
const stream = fc
  .array(fc.tuple(line, fc.constantFrom("\n", "\r\n", "\r")), { maxLength: 30 })
  .map((lines) => lines.map(([text, end]) => text.replaceAll(/[\r\n]/g, "") + end).join(""));

it("any chunking of a stream gives the same events", async () => {
  await fc.assert(
    fc.asyncProperty(stream, fc.array(fc.nat({ max: 400 }), { maxLength: 12 }), async (text, at) => {
      const bytes = bytesOf(text);
      const cuts = [0, ...at.map((cut) => cut % (bytes.length + 1)).sort((a, b) => a - b), bytes.length];
      expect(await read(cuts.slice(1).map((end, index) => bytes.subarray(cuts[index], end)))).toEqual(await whole(text));
    }),
    { numRuns: 300 },
  );
});

it("reads fields, lines' ends and comments as the standard says", async () => {
  expect(await whole("\uFEFFdata: one\n\n")).toEqual([{ event: "message", data: "one", id: "" }]);
  expect(await whole("event: status\r\ndata: a\r\ndata:  b\r\n\r\n")).toEqual([{ event: "status", data: "a\n b", id: "" }]);
  expect(await whole("id: 1\ndata: x\n\ndata: y\n\nid\ndata: z\n\n")).toEqual([
    { event: "message", data: "x", id: "1" },
    { event: "message", data: "y", id: "1" },
    { event: "message", data: "z", id: "" },
  ]);
  expect(await whole(": heartbeat\n\nretry: 1000\n\nevent: e\n\ndata\n\n")).toEqual([{ event: "message", data: "", id: "" }]);
  expect(await whole("data: not yet whole\n")).toEqual([]);
});

import fc from "fast-check";
import { expect, it } from "vitest";
import { createParser, type Message } from "../../src/events/parser.js";

const whole = (text: string): readonly Message[] => createParser().push(text);

const line = fc.oneof(
  fc.constantFrom("", "", "data", "data:", "event: status", "id: 7", "id", "id: a\0b", ": comment", "retry: 5", "unknown: x"),
  fc.string({ maxLength: 12 }).map((text) => `data: ${text}`),
  fc.string({ unit: "grapheme", maxLength: 8 }).map((text) => `data:${text}`),
);
const stream = fc
  .array(fc.tuple(line, fc.constantFrom("\n", "\r\n", "\r")), { maxLength: 30 })
  .map((lines) => lines.map(([text, end]) => text.replaceAll(/[\r\n]/g, "") + end).join(""));

it("any chunking of a stream gives the same events", () => {
  fc.assert(
    fc.property(stream, fc.array(fc.nat({ max: 400 }), { maxLength: 12 }), (text, at) => {
      const cuts = [0, ...at.map((cut) => cut % (text.length + 1)).sort((a, b) => a - b), text.length];
      const parser = createParser();
      const events = cuts.slice(1).flatMap((end, index) => parser.push(text.slice(cuts[index], end)));
      expect(events).toEqual(whole(text));
    }),
    { numRuns: 300 },
  );
});

it("reads fields, lines' ends and comments as the standard says", () => {
  expect(whole("\uFEFFdata: one\n\n")).toEqual([{ event: "message", data: "one", id: "" }]);
  expect(whole("event: status\r\ndata: a\r\ndata:  b\r\n\r\n")).toEqual([{ event: "status", data: "a\n b", id: "" }]);
  expect(whole("id: 1\n\ndata: x\n\nid\ndata: y\n\n")).toEqual([
    { event: "message", data: "x", id: "1" },
    { event: "message", data: "y", id: "" },
  ]);
  expect(whole(": heartbeat\n\nretry: 1000\n\nevent: e\n\ndata\n\n")).toEqual([{ event: "message", data: "", id: "" }]);
  expect(whole("data: not yet whole\n")).toEqual([]);
});

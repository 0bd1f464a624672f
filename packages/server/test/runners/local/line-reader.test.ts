import fc from "fast-check";
import { expect, test } from "vitest";
import { createLineReader } from "../../../src/runners/local/line-reader.js";

function read(chunks: readonly Buffer[], maxLineBytes: number): { lines: string[]; tooLong: number; pending: number } {
  const lines: string[] = [];
  let tooLong = 0;
  const reader = createLineReader({
    maxLineBytes,
    onLine: (line) => void lines.push(line.toString("latin1")),
    onTooLong: () => {
      tooLong += 1;
    },
  });
  for (const chunk of chunks) reader.push(chunk);
  return { lines, tooLong, pending: reader.pending() };
}

test("any cutting of the bytes gives the same lines", () => {
  const bytes = fc.uint8Array({ maxLength: 60 }).map((array) => Buffer.from(array.map((byte) => (byte < 60 ? 10 : byte))));
  fc.assert(
    fc.property(bytes, fc.array(fc.nat(60)), (all, cuts) => {
      const edges = [0, ...cuts.filter((cut) => cut < all.length).sort((a, b) => a - b), all.length];
      const chunks = edges.slice(1).map((end, index) => all.subarray(edges[index], end));
      const expected = all.toString("latin1").split("\n");
      const rest = expected.pop() ?? "";
      expect(read(chunks, 60)).toEqual({ lines: expected, tooLong: 0, pending: rest.length });
    }),
  );
});

test("a line of exactly the cap passes; one byte more ends the reading, and nothing is held", () => {
  expect(read([Buffer.from("abcd\nx\n")], 4)).toEqual({ lines: ["abcd", "x"], tooLong: 0, pending: 0 });
  expect(read([Buffer.from("abc"), Buffer.from("de"), Buffer.from("f\nx\n")], 4)).toEqual({ lines: [], tooLong: 1, pending: 0 });
});

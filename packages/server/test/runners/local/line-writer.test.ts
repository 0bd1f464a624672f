import fc from "fast-check";
import { expect, test } from "vitest";
import { createLineWriter } from "../../../src/runners/local/line-writer.js";

const turn = (): Promise<void> => new Promise(setImmediate);

test("lines come in order and whole, whatever they hold and however they are cut", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.jsonValue(), { minLength: 1 }), fc.integer({ min: 1, max: 12 }), async (values, piece) => {
      let written = "";
      const write = createLineWriter((text) => {
        written += text;
      }, piece);
      for (const value of values) write(value);
      while (written.split("\n").length <= values.length) await turn();
      expect(
        written
          .trimEnd()
          .split("\n")
          .map((line) => JSON.parse(line)),
      ).toEqual(JSON.parse(JSON.stringify(values)));
    }),
  );
});

test("a short line is written at once, without what is undefined, but behind a long one", async () => {
  const written: string[] = [];
  const write = createLineWriter((text) => written.push(text));
  write({ type: "cancel", job_id: "a", left: undefined, none: {} });
  expect(written).toEqual(['{"type":"cancel","job_id":"a","none":{}}\n']);
  write({ text: "ü😀".repeat(4 * 1024 * 1024) });
  write({ type: "cancel" });
  expect(written.at(-1)).not.toBe('{"type":"cancel"}\n');
  while (written.at(-1) !== '{"type":"cancel"}\n') await turn();
  expect(written.length).toBeGreaterThan(10);
});

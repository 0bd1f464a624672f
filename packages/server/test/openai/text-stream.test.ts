import fc from "fast-check";
import { expect, test } from "vitest";
import { textStream } from "../../src/openai/text-stream.js";
import { defer } from "../../src/runners/local/deferred.js";

const RESULT = { text: "", finish_reason: "stop", prompt_tokens: 1, completion_tokens: 1 } as const;

const read = async (texts: ReturnType<typeof textStream>) => {
  let text = "";
  for (;;) {
    const step = await texts.next();
    if (step.done) return { text, result: step.value };
    text += step.value;
  }
};

test("whatever the pauses between pieces, the reader gets all the text and then the result", async () => {
  const turns = fc.array(fc.record({ piece: fc.string(), pauses: fc.nat(3) }));
  await fc.assert(
    fc.asyncProperty(turns, fc.nat(3), async (steps, last) => {
      const pause = async (count: number): Promise<void> => {
        for (let turn = 0; turn < count; turn += 1) await null;
      };
      const texts = textStream(async (onText) => {
        for (const { piece, pauses } of steps) {
          await pause(pauses);
          onText(piece);
        }
        await pause(last);
        return RESULT;
      });
      expect(await read(texts)).toEqual({ text: steps.map(({ piece }) => piece).join(""), result: RESULT });
    }),
  );
});

test("a failure comes after the text before it", async () => {
  const texts = textStream(async (onText) => {
    onText("half a");
    throw new Error("broken");
  });
  expect(await texts.next()).toEqual({ done: false, value: "half a" });
  await expect(texts.next()).rejects.toThrow("broken");
});

test("a slow reader gets what came meanwhile as one piece", async () => {
  const go = defer<void>();
  const texts = textStream(async (onText) => {
    onText("a");
    await go.promise;
    for (const piece of ["b", "c", "d"]) onText(piece);
    return RESULT;
  });
  expect((await texts.next()).value).toBe("a");
  go.resolve();
  await new Promise(setImmediate);
  expect((await texts.next()).value).toBe("bcd");
  expect(await texts.next()).toEqual({ done: true, value: RESULT });
});

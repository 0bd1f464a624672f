import fc from "fast-check";
import { expect, test } from "vitest";
import { engineEvents } from "../../src/chat/engine-events.js";
import { defer } from "../../src/common/promises.js";
import { manualClock } from "../common/manual-clock.js";
import { resultOf } from "./support.js";

const QUIET = { clock: manualClock(), idleMs: () => 1_000 };
const RESULT = resultOf();

const token = (text: string) => ({ type: "token", text }) as const;

const read = async (events: ReturnType<typeof engineEvents>) => {
  let text = "";
  for (;;) {
    const step = await events.next();
    if (step.done) return { text, result: step.value };
    if (step.value.type === "token") text += step.value.text;
  }
};

test("whatever the pauses between pieces, the reader gets all the text and then the result", async () => {
  const turns = fc.array(fc.record({ piece: fc.string(), pauses: fc.nat(3) }));
  await fc.assert(
    fc.asyncProperty(turns, fc.nat(3), async (steps, last) => {
      const pause = async (count: number): Promise<void> => {
        for (let turn = 0; turn < count; turn += 1) await null;
      };
      const events = engineEvents(async (onEvent) => {
        for (const { piece, pauses } of steps) {
          await pause(pauses);
          onEvent(token(piece));
        }
        await pause(last);
        return RESULT;
      }, QUIET);
      expect(await read(events)).toEqual({ text: steps.map(({ piece }) => piece).join(""), result: RESULT });
    }),
  );
});

test("a failure comes after the text before it", async () => {
  const events = engineEvents(async (onEvent) => {
    onEvent(token("half a"));
    throw new Error("broken");
  }, QUIET);
  expect(await events.next()).toEqual({ done: false, value: token("half a") });
  await expect(events.next()).rejects.toThrow("broken");
});

test("a slow reader gets what came meanwhile as one piece", async () => {
  const go = defer<void>();
  const events = engineEvents(async (onEvent) => {
    onEvent(token("a"));
    await go.promise;
    for (const piece of ["b", "c", "d"]) onEvent(token(piece));
    return RESULT;
  }, QUIET);
  expect((await events.next()).value).toEqual(token("a"));
  go.resolve();
  await new Promise(setImmediate);
  expect((await events.next()).value).toEqual(token("bcd"));
  expect(await events.next()).toEqual({ done: true, value: RESULT });
});

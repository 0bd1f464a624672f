import fc from "fast-check";
import { expect, test } from "vitest";
import { answerTo, HEAD_MS, SIGN_MS, wholeAnswer } from "../../src/chat/answer.js";
import { defer } from "../../src/common/promises.js";
import type { ChatEvent } from "../../src/runners/runner.js";
import { manualClock } from "../common/manual-clock.js";
import { again, eventsOf, replay, resultOf, specOf, TWO_CALLS } from "./support.js";

const wholeOf = async (...args: Parameters<typeof eventsOf>) => wholeAnswer(again(await eventsOf(...args)));
const id = expect.stringMatching(/^call_[0-9a-f]{32}$/);

test("calls are read out of the text, in their places, and end the answer for their results", async () => {
  expect(await wholeOf([TWO_CALLS])).toEqual({
    parts: [
      { type: "text", text: "I look around." },
      { type: "call", id, name: "bash", arguments: '{"command": "ls -a | grep \\"gr\\u00fc\\u00dfe 🦘\\""}' },
      { type: "text", text: expect.stringMatching(/^\s*And \u2028 then:$/) },
      { type: "call", id, name: "bash", arguments: "{}" },
    ],
    reason: "calls",
    prompt_tokens: 7,
    completion_tokens: 5,
    stop_text: null,
  });
});

test("an answer that was not streamed is read all the same, and one that was cut says so", async () => {
  const events = answerTo(specOf({ stream: false }), replay([], { text: TWO_CALLS, finish_reason: "length" }), {
    clock: manualClock(),
  });
  const { parts, reason } = await wholeAnswer(events);
  expect([parts.length, reason]).toEqual([4, "length"]);
});

test("without tools a call is text", async () => {
  const events = answerTo(specOf({ tools: [] }), replay([TWO_CALLS], {}, null), { clock: manualClock() });
  expect(await wholeAnswer(events)).toMatchObject({ parts: [{ type: "text", text: TWO_CALLS }], reason: "stop" });
});

test("where one call is asked for, nothing follows the first", async () => {
  const { parts, reason } = await wholeOf([TWO_CALLS], { spec: specOf({ parallel_tool_calls: false }) });
  expect([parts.map(({ type }) => type), reason]).toEqual([["text", "call"], "calls"]);
});

test("an engine that says nothing is told of: early before the beginning, then now and again", async () => {
  const clock = manualClock();
  const [prompt, token] = [defer<void>(), defer<void>()];
  const events = answerTo(
    specOf(),
    async (onEvent: (event: ChatEvent) => void) => {
      await prompt.promise;
      onEvent({ type: "prompt", prompt: { prompt_tokens: 7, tool_format: "hermes" } });
      await token.promise;
      return resultOf({ text: "Done." });
    },
    { clock },
  );
  const after = async (ms: number) => {
    const next = events.next();
    await new Promise(setImmediate);
    clock.advance(ms);
    return (await next).value;
  };
  expect(await after(HEAD_MS)).toEqual({ type: "idle" });
  expect(await after(SIGN_MS)).toEqual({ type: "idle" });
  prompt.resolve();
  expect(await after(0)).toEqual({ type: "begin", prompt_tokens: 7 });
  expect(await after(SIGN_MS)).toEqual({ type: "idle" });
  token.resolve();
  expect(await after(0)).toEqual({ type: "text", text: "Done." });
  expect(await after(0)).toMatchObject({ type: "end" });
  expect(clock.armed()).toBe(0);
});

test("a call that is held back until it is whole is no silence", async () => {
  const clock = manualClock();
  const call = '<tool_call>\n{"name": "bash", "arguments": {"command": "';
  const events = answerTo(
    specOf(),
    async (onEvent) => {
      onEvent({ type: "prompt", prompt: { prompt_tokens: 7, tool_format: "hermes" } });
      for (const text of [call, "l", "s"]) {
        await new Promise(setImmediate);
        clock.advance(SIGN_MS - 1);
        onEvent({ type: "token", text });
      }
      return resultOf({ text: `${call}ls` });
    },
    { clock },
  );
  const types: string[] = [];
  for await (const { type } of events) if (type !== "text") types.push(type);
  expect(types).toEqual(["begin", "idle", "end"]);
});

/** A text cut at these places. */
const cut = (text: string, places: readonly number[]): string[] => {
  const sorted = [...new Set([0, ...places.map((place) => place % text.length), text.length])].sort((a, b) => a - b);
  return sorted.slice(1).map((end, at) => text.slice(sorted[at], end));
};

test("however an engine tears its text, the answer is the same", async () => {
  const whole = await wholeOf([TWO_CALLS]);
  const anyId = (answer: typeof whole) => ({
    ...answer,
    parts: answer.parts.map((part) => (part.type === "call" ? { ...part, id: "" } : part)),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(fc.nat()), async (places) => {
      expect(anyId(await wholeOf(cut(TWO_CALLS, places)))).toEqual(anyId(whole));
    }),
  );
});

const token = (text: string) => ({ type: "token", text }) as const;
/** Of an engine that shows no calls. */
const textOf = (call: Parameters<typeof answerTo>[1]) => answerTo(specOf({ tools: [] }), call, { clock: manualClock() });

test("whatever the pauses between pieces, the reader gets all the text and then the end", async () => {
  const turns = fc.array(fc.record({ piece: fc.string(), pauses: fc.nat(3) }));
  await fc.assert(
    fc.asyncProperty(turns, fc.nat(3), async (steps, last) => {
      const pause = async (count: number): Promise<void> => {
        for (let turn = 0; turn < count; turn += 1) await null;
      };
      const text = steps.map(({ piece }) => piece).join("");
      const events = textOf(async (onEvent) => {
        for (const { piece, pauses } of steps) {
          await pause(pauses);
          onEvent(token(piece));
        }
        await pause(last);
        return resultOf({ text });
      });
      expect((await wholeAnswer(events)).parts).toEqual(text === "" ? [] : [{ type: "text", text }]);
    }),
  );
});

test("a failure comes after the text before it", async () => {
  const events = textOf(async (onEvent) => {
    onEvent(token("half a"));
    throw new Error("broken");
  });
  expect(await events.next()).toEqual({ done: false, value: { type: "text", text: "half a" } });
  await expect(events.next()).rejects.toThrow("broken");
});

test("a slow reader gets what came meanwhile as one piece", async () => {
  const go = defer<void>();
  const events = textOf(async (onEvent) => {
    onEvent(token("a"));
    await go.promise;
    for (const piece of ["b", "c", "d"]) onEvent(token(piece));
    return resultOf({ text: "abcd" });
  });
  expect((await events.next()).value).toEqual({ type: "text", text: "a" });
  go.resolve();
  await new Promise(setImmediate);
  expect((await events.next()).value).toEqual({ type: "text", text: "bcd" });
  expect((await events.next()).value).toMatchObject({ type: "end" });
  expect((await events.next()).done).toBe(true);
});

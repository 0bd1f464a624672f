import { expect, test } from "vitest";
import type { ChatEvent } from "../../../src/runners/runner.js";
import { chatCall, runnerOn, userSays } from "../support.js";

const PROMPT: ChatEvent = { type: "prompt", prompt: { prompt_tokens: 2, tool_format: null } };

test("a chat tells of its prompt, then its text if it is asked to, before its answer", async () => {
  const runner = runnerOn("trainer.mjs");
  const told: ChatEvent[] = [];
  const stream = chatCall({ messages: [userSays("one two")], stream: true });
  const result = await runner.call(stream, undefined, (event) => told.push(event));
  expect(told).toEqual([PROMPT, ...["base: ", "one ", "two"].map((text) => ({ type: "token", text }))]);
  expect(result.text).toBe("base: one two");
  const plain: ChatEvent[] = [];
  expect(await runner.call(chatCall(), undefined, (event) => plain.push(event))).toMatchObject({ text: "base: hello" });
  expect(plain.map(({ type }) => type)).toEqual(["prompt"]);
});

import { expect, test } from "vitest";
import { chatCall, runnerOn } from "../support.js";

test("a chat tells its text before its answer, if it is asked to", async () => {
  const runner = runnerOn("trainer.mjs");
  const told: string[] = [];
  const stream = chatCall({ messages: [{ role: "user", content: "one two" }], stream: true });
  const result = await runner.call(stream, undefined, (text) => told.push(text));
  expect(told).toEqual(["base: ", "one ", "two"]);
  expect(result.text).toBe(told.join(""));
  expect(await runner.call(chatCall(), undefined, () => expect.unreachable())).toMatchObject({ text: "base: hello" });
});

import { expect, it } from "vitest";
import { leftOutLines } from "../../src/watch/outcome.js";

it("names each session that is skipped with the reason, and where shared turns are learned", () => {
  const skipped = [{ session_id: "silent", code: "NOTHING_TO_TRAIN", message: "It says\u001b[31m nothing." } as const];
  const shared = [{ session_id: "resumed", supervised_in: "first", turns: 1 }];
  expect(leftOutLines({ skipped, shared })).toEqual([
    "skipped silent: It says\\u001b[31m nothing.",
    "resumed: 1 turn supervised in first",
  ]);
});

import { expect, test } from "vitest";
import { runsOf } from "../../src/adapters/runs.js";

test("held-out losses stand before the first step and at the end of each epoch", () => {
  expect(runsOf("a", [6, 5, 4, 3, 2, 1], [9, 8, 7])).toEqual([
    { label: "Training", losses: [null, 6, 5, 4, 3, 2, 1] },
    { label: "Held out", losses: [9, null, null, 8, null, null, 7] },
  ]);
});

test("where nothing was held out there is one run, by its name", () => {
  expect(runsOf("a", [2, 1], [])).toEqual([{ label: "a", losses: [null, 2, 1] }]);
});

import { expect, it } from "vitest";
import { againstBase, table } from "../../tasks/table.mjs";

const cell = (row, task, solved, shown = true) => ({
  ...{ seed: "a", repository: "docs-1", row, task, solved, shown, seconds: 2 },
  outcome: solved ? "solved" : "no call",
});

it("compares a row with the base on the tasks that both have", () => {
  const base = [cell("base", "one", false), cell("base", "two", true)];
  const learned = [cell("learn3", "one", true), cell("learn3", "two", true), cell("learn3", "three", true)];
  expect(againstBase(learned, base)).toEqual({ better: 1, worse: 0, p: 1 });
});

it("tells families apart that no training showed", () => {
  const lines = table([cell("base", "one", false), cell("base", "two", true, false)]);
  expect(lines.at(-1)).toBe(
    "| base | 50 (9, 91), 1 of 2 | 0 (0, 79), 0 of 1 | 100 (21, 100), 1 of 1 | - | no call 1, solved 1 | 2 |",
  );
});

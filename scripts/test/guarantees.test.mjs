import { existsSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { mutated, promisesIn } from "../lib/guarantees/main.mjs";

const root = new URL("../../", import.meta.url);
const read = (file) => readFileSync(new URL(file, root), "utf8");
const PROMISES = promisesIn(read("docs/guarantees.md"));

test.each(PROMISES)("$promise: its tests are there, and its mutant is one change of what stands today", (one) => {
  expect(one.tests.filter((file) => !existsSync(new URL(file, root)))).toEqual([]);
  const text = read(one.mutant.file);
  expect(mutated(one, text)).not.toBe(text);
});

test("promises are few, and no two say the same", () => {
  expect(PROMISES.length).toBeGreaterThan(20);
  expect(PROMISES.length).toBeLessThanOrEqual(25);
  expect(new Set(PROMISES.map(({ promise }) => promise)).size).toBe(PROMISES.length);
});

test("a mutant of what stands nowhere, or twice, is an error that names the file", () => {
  const one = { promise: "It holds", mutant: { file: "a.ts", is: "if (held)", becomes: "if (true)" } };
  expect(mutated(one, "if (held) stay();")).toBe("if (true) stay();");
  for (const text of ["stay();", "if (held) stay(); if (held) go();"]) expect(() => mutated(one, text)).toThrow("a.ts");
});

test("an item that is written otherwise is an error, and none is left out without a word", () => {
  const item = "1. **It holds.** Withstands\n   all. Tests: `a.test.ts`, `b.py`. Broken by `a.ts`: `if (held)` → nothing.\n";
  expect(promisesIn(`# Page\n\n${item}`)).toEqual([
    { promise: "It holds", tests: ["a.test.ts", "b.py"], mutant: { file: "a.ts", is: "if (held)", becomes: "" } },
  ]);
  expect(() => promisesIn(`${item}2. **It holds too.** Tests: none.\n`)).toThrow("It holds too");
});

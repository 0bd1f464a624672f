import { redactSession } from "@imprint/sessions";
import { expect, it } from "vitest";
import { makeCanaries } from "../../src/privacy/canaries.js";
import { plant } from "../../src/privacy/plant.js";
import { running, sessionOf, user } from "./support.js";

const some = (seed: number) => makeCanaries({ seed, count: 8, candidates: 20 });

it("the same seed gives the same canaries, another seed others", () => {
  expect(some(3)).toEqual(some(3));
  const values = [3, 4].flatMap((seed) => some(seed).map(({ value }) => value));
  expect(new Set(values).size).toBe(16);
});

it("a canary could have been any of its candidates: as long, and of the same characters", () => {
  for (const { value, candidates } of some(5)) {
    expect(candidates).toHaveLength(20);
    expect(new Set([value, ...candidates]).size).toBe(21);
    expect(candidates.every((one) => one.length === value.length)).toBe(true);
    expect(candidates.every((one) => /\d/.test(one))).toBe(true);
  }
});

it("the redactor knows every kind, wherever it was planted", () => {
  const session = sessionOf([user("Go on."), running("I look.", "ls", "a"), running("", "make", "done"), user("And?")]);
  for (let seed = 0; seed < 100; seed++) {
    const canaries = some(seed);
    const [planted] = plant({ sessions: [session], canaries, trainOn: "all" })?.sessions ?? [];
    if (planted === undefined) throw new Error("nothing was planted");
    const left = JSON.stringify(redactSession(planted));
    expect(canaries.filter(({ value }) => left.includes(value))).toEqual([]);
  }
});

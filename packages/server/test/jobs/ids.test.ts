import { JobId } from "@imprint/contracts";
import fc from "fast-check";
import { Value } from "typebox/value";
import { expect, test } from "vitest";
import { createIds } from "../../src/jobs/ids.js";

test("ids grow whatever the clock does, and look like ids", () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 2 ** 48 - 2 }), { minLength: 2 }), (times) => {
      let index = 0;
      const newId = createIds({ clock: { now: () => times[Math.min(index++, times.length - 1)] ?? 0 } });
      const ids = times.map(newId);
      expect(ids).toEqual([...ids].sort());
      expect(new Set(ids).size).toBe(ids.length);
      expect(ids.every((id) => Value.Check(JobId, id))).toBe(true);
    }),
  );
});

test("the time leads, and the rest is random", () => {
  const now = (): number => 1_469_918_176_385; // the example of the ULID specification: 01ARYZ6S41
  const ids = [1, 2].map(() => createIds({ clock: { now } })());
  expect(ids.map((id) => id.slice(0, 10))).toEqual(["01aryz6s41", "01aryz6s41"]);
  expect(ids[0]).not.toBe(ids[1]);
});

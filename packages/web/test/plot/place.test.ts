import fc from "fast-check";
import { expect, test } from "vitest";
import { placeOf } from "../../src/plot/intervals.js";

const values = fc.array(fc.integer({ min: -20_000, max: 20_000 }).map((thousandths) => thousandths / 1000));

test("every value and 0 stand inside of the axis, in their order", () => {
  fc.assert(
    fc.property(values, (drawn) => {
      const place = placeOf(drawn);
      const places = [0, ...drawn].toSorted((one, other) => one - other).map(place);
      expect(places).toEqual(places.toSorted((one, other) => one - other));
      for (const at of places) {
        expect(at).toBeGreaterThan(0);
        expect(at).toBeLessThan(100);
      }
    }),
  );
});

test("equal differences are equally far apart, on both sides of 0", () => {
  const place = placeOf([-3, 1]);
  expect(place(0) - place(-1)).toBeCloseTo(place(1) - place(0));
  expect(place(-3)).toBeCloseTo(100 - place(1));
});

import type { Sweep } from "@imprint/contracts";
import { expect, test } from "vitest";
import { curvesOf } from "../../src/sweep/curves-of.js";

const sweepOf = (...curves: readonly (readonly (readonly [step: number, loss: number])[])[]): Sweep =>
  ({
    trials: curves.map((curve, at) => ({ trial: at + 1, curve: curve.map(([step, loss]) => ({ step, loss })) })),
  }) as unknown as Sweep;

test("each trial is a line over the steps at which any was measured", () => {
  const { x, lines } = curvesOf(
    sweepOf(
      [
        [0, 2],
        [8, 1.5],
        [16, 1],
      ],
      [
        [0, 2],
        [4, 1.8],
      ],
      [],
    ),
  );
  expect(x).toEqual([0, 4, 8, 16]);
  expect(lines.map(({ label, values }) => [label, values])).toEqual([
    ["Trial 1", [2, null, 1.5, 1]],
    ["Trial 2", [2, 1.8, null, null]],
  ]);
});

import { expect, test } from "vitest";
import { createSweep } from "../../../src/kinds/sweep/kind.js";
import type { SweepJobRequest } from "../../../src/kinds/sweep/resolve.js";
import type { Workshop } from "../../../src/kinds/workshop.js";

const { continues } = createSweep({ paths: {} } as Workshop);

test("a sweep that goes on has the one that it goes on from to itself, where several services share a data directory", () => {
  expect(continues?.({ resume_from: "0".repeat(26) } as SweepJobRequest)).toEqual(["0".repeat(26)]);
  expect(continues?.({} as SweepJobRequest)).toEqual([]);
});

import { exactP as mcnemar } from "@imprint/contracts";
import { describe, expect, it } from "vitest";
import { interleaved } from "../../harness/pairs.mjs";
import { spread, wilson } from "../../harness/statistics.mjs";

describe("wilson", () => {
  it("gives the intervals of the literature", () => {
    // Newcombe (1998), table I: 81 of 263, 15 of 148, 0 of 20.
    const rounded = (hits, total) => wilson(hits, total).map((share) => Number(share.toFixed(4)));
    expect(rounded(81, 263)).toEqual([0.2553, 0.3662]);
    expect(rounded(15, 148)).toEqual([0.0624, 0.1605]);
    expect(rounded(0, 20)).toEqual([0, 0.1611]);
  });

  it("knows nothing when nothing was counted", () => {
    expect(wilson(0, 0)).toEqual([0, 1]);
  });
});

describe("mcnemar", () => {
  it("gives the binomial chance of a split as uneven, two-sided", () => {
    expect(mcnemar(5, 0)).toBeCloseTo(2 / 32);
    expect(mcnemar(1, 7)).toBeCloseTo((2 * (1 + 8)) / 256);
    expect([mcnemar(0, 0), mcnemar(3, 3)]).toEqual([1, 1]);
  });
});

describe("spread", () => {
  it("takes the middle of an odd list and between the two middles of an even one", () => {
    expect(spread([9, 1, 4])).toEqual({ median: 4, min: 1, max: 9 });
    expect(spread([10, 9, 1, 4])).toEqual({ median: 6.5, min: 1, max: 10 });
  });
});

describe("interleaved", () => {
  it("runs the works in turn and leaves out the first round", async () => {
    const order = [];
    const costs = { a: [100, 1, 2, 3], b: [100, 4, 4, 3] };
    const works = { a: () => order.push("a"), b: () => order.push("b") };
    const clock = async (work) => {
      work();
      return costs[order.at(-1)].shift();
    };
    const times = await interleaved({ works, rounds: 3, clock });
    expect(order.join("")).toBe("abababab");
    expect(times.a).toEqual({ median: 2, min: 1, max: 3 });
    expect(times.b).toEqual({ median: 4, min: 3, max: 4 });
  });
});

import fc from "fast-check";
import { expect, it } from "vitest";
import { OF_TOKEN, visitRuns } from "../../src/redact/runs.js";
import { scanOf } from "../../src/redact/scan.js";

it("visits exactly the long stretches of token characters", () => {
  const text = fc.string({ unit: fc.constantFrom("a", "Z", "7", "_", "-", ".", " ", "/", "é", "\n"), maxLength: 200 });
  const crowded = fc.array(fc.oneof(text, fc.string({ unit: fc.constantFrom("a", "b", "3"), minLength: 10, maxLength: 40 })), {
    maxLength: 10,
  });
  fc.assert(
    fc.property(crowded, (parts) => {
      const all = parts.join(" ");
      const found: unknown[] = [];
      visitRuns(scanOf(all), OF_TOKEN, 16, (start, end) => found.push([start, all.slice(start, end)]));
      expect(found).toEqual([...all.matchAll(/[A-Za-z0-9_.-]{16,}/g)].map((run) => [run.index, run[0]]));
    }),
    { numRuns: 500 },
  );
});

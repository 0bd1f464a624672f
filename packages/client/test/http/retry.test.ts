import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { apiError } from "../../src/errors.js";
import { isRetryable, retryDelay } from "../../src/http/retry.js";

describe("retryDelay", () => {
  it("doubles from half a second and stays under eight, with at most a quarter taken off", () => {
    fc.assert(
      fc.property(fc.nat({ max: 60 }), fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true }), (attempt, luck) => {
        const full = Math.min(8_000, 500 * 2 ** attempt);
        const delay = retryDelay(attempt, null, () => luck) ?? Number.NaN;
        expect(delay).toBeLessThanOrEqual(full);
        expect(delay).toBeGreaterThanOrEqual(0.75 * full);
      }),
    );
  });

  it.each([
    ["2", 2_000],
    ["0", 0],
    ["3600", null],
    ["Wed, 21 Oct 2026 07:28:00 GMT", 500],
    ["-1", 500],
  ])("takes Retry-After: %s as %s ms", (header, expected) => {
    expect(retryDelay(0, header, () => 0)).toBe(expected);
  });
});

describe("isRetryable", () => {
  it("says of what must not be done twice: only where it was not done", () => {
    const codes = [429, 503].map((status) => isRetryable(apiError(status, {}), false));
    expect(codes).toEqual([true, false]);
  });

  it.each([
    [429, "QUEUE_FULL", true],
    [429, "TOO_MANY_STREAMS", true],
    [503, "SHUTTING_DOWN", true],
    [503, "DEADLINE_EXCEEDED", false],
    [507, "DISK_FULL", false],
  ])("says of %i %s: %s", (status, code, expected) => {
    expect(isRetryable(apiError(status, { code }), true)).toBe(expected);
  });
});

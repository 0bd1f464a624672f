import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { systemClock } from "../../src/common/clock.js";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const DAY = 24 * 60 * 60 * 1000;

test("a timer longer than setTimeout can hold fires when it is due, not at once", () => {
  const run = vi.fn();
  systemClock().after(60 * DAY, run);
  vi.advanceTimersByTime(60 * DAY - 1);
  expect(run).not.toHaveBeenCalled();
  vi.advanceTimersByTime(1);
  expect(run).toHaveBeenCalledTimes(1);
});

test.each([1, 30 * DAY])("a timer that is called off after %d ms does not fire", (wait) => {
  const run = vi.fn();
  const stop = systemClock().after(60 * DAY, run);
  vi.advanceTimersByTime(wait);
  stop();
  vi.advanceTimersByTime(90 * DAY);
  expect(run).not.toHaveBeenCalled();
  expect(vi.getTimerCount()).toBe(0);
});

import fc from "fast-check";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createFreeCores, type Look, mostThreads, threadsFor } from "../../../src/chat/llama-cpp/free-cores.js";
import { defer } from "../../../src/common/promises.js";

const NOTHING: Look = { now: 0, idle: 0, own: 0 };
const CORES = 6;
const most = mostThreads(CORES);

test.each<[what: string, threads: number, look: Look]>([
  // Recorded on two cores.
  ["alone", 2, { now: 500, idle: 130, own: 853 }],
  ["between two tokens", 2, { now: 504, idle: 280, own: 725 }],
  ["two threads beside two of another process", 1, { now: 504, idle: 0, own: 490 }],
  ["one thread beside two", 1, { now: 500, idle: 0, own: 307 }],
  ["one thread, the others gone", 2, { now: 501, idle: 490, own: 500 }],
])("%s: %i", (_what, threads, look) => {
  expect(threadsFor(2, NOTHING, look)).toBe(threads);
});

test("threads are never none, nor more than serve, and not fewer where more is free", () => {
  const time = fc.nat({ max: 10_000 });
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 64 }), time, time, time, (at_most, idle, own, more) => {
      const threads = threadsFor(at_most, NOTHING, { now: 500, idle, own });
      expect(threads).toBeGreaterThanOrEqual(1);
      expect(threads).toBeLessThanOrEqual(at_most);
      expect(threadsFor(at_most, NOTHING, { now: 500, idle: idle + more, own })).toBeGreaterThanOrEqual(threads);
    }),
  );
});

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

test("while an answer is written its threads follow who else computes, and nobody looks afterwards", async () => {
  const llama = { maxThreads: 0 };
  let look = NOTHING;
  const onFreeCores = createFreeCores(llama, CORES, () => look);
  expect(llama.maxThreads).toBe(most);
  const [first, second] = [defer<void>(), defer<void>()];
  const answers = [onFreeCores(() => first.promise), onFreeCores(() => second.promise)];
  const after = (idle: number, own: number): number => {
    look = { now: look.now + 500, idle: look.idle + idle, own: look.own + own };
    vi.advanceTimersByTime(500);
    return llama.maxThreads;
  };
  expect(after(0, 250)).toBe(1);
  first.reject(new Error("crashed"));
  await expect(answers[0]).rejects.toThrow("crashed");
  expect(after(500 * most, 250)).toBe(most);
  second.resolve();
  await answers[1];
  expect(vi.getTimerCount()).toBe(0);
});

import fc from "fast-check";
import { expect, test } from "vitest";
import { ASSUMPTIONS, OPTIONS, readAssumptions } from "../../scale/assumptions.mjs";
import { createHeap } from "../../scale/heap.mjs";
import { meanWork, simulate } from "../../scale/simulate.mjs";

const DEFAULTS = readAssumptions(Object.fromEntries(Object.entries(OPTIONS).map(([name, { default: value }]) => [name, value])));
/** Jobs of one length at an even pace, and nothing fails. */
const EVEN = {
  ...DEFAULTS,
  ...{ "imprint-share": 1, "imprint-seconds": 0, "start-seconds": 60, "failed-jobs": 0, peak: 1 },
  ...{ "gpu-mtbf-hours": 1e12, "plane-jobs": 1e6 },
};

test("a queue of jobs of one length waits as Pollaczek and Khinchine say", () => {
  // M/D/1 at a load of 0.5: half of the time that a job takes.
  const days = Array.from({ length: 6 }, (_, seed) => simulate({ gpus: 1, sessions: 720, assumed: EVEN, seed }));
  const mean = (of) => days.reduce((sum, day) => sum + of(day), 0) / days.length;
  expect(Math.abs(mean((day) => day.utilisation) - 0.5)).toBeLessThan(0.05);
  expect(Math.abs(mean((day) => day.queue_seconds.mean) - 30)).toBeLessThan(8);
});

test("the same seed gives the same day, and another one another day", () => {
  const day = (seed) => simulate({ gpus: 3, sessions: 5_000, assumed: DEFAULTS, seed });
  expect(day(1)).toEqual(day(1));
  expect(day(1)).not.toEqual(day(2));
});

test("whatever the day: nobody waits less than no time, cards work no more than all day, and more cards never wait longer", () => {
  const day = fc.record({
    gpus: fc.integer({ min: 1, max: 20 }),
    sessions: fc.integer({ min: 100, max: 4_000 }),
    seed: fc.nat(1_000),
  });
  fc.assert(
    fc.property(day, ({ gpus, sessions, seed }) => {
      const [few, many] = [gpus, 2 * gpus].map((cards) => simulate({ gpus: cards, sessions, assumed: EVEN, seed }));
      for (const { queue_seconds, utilisation } of [few, many]) {
        expect(queue_seconds.median).toBeGreaterThanOrEqual(0);
        expect(queue_seconds.p95).toBeGreaterThanOrEqual(queue_seconds.median);
        expect(utilisation).toBeGreaterThanOrEqual(0);
        expect(utilisation).toBeLessThanOrEqual(1 + 1e-9);
      }
      if (!few.overloaded) expect(many.queue_seconds.p95).toBeLessThanOrEqual(few.queue_seconds.p95 + 1e-6);
    }),
    { numRuns: 12 },
  );
});

test("more than the cards can do is said to grow, and costs what the work costs", () => {
  const { overloaded, waiting, utilisation, dollars_per_adapter } = simulate({ gpus: 1, sessions: 4_320, assumed: EVEN });
  expect([overloaded, Math.round(utilisation * 100)]).toEqual([true, 100]);
  expect(waiting).toBeGreaterThan(1_000);
  expect(dollars_per_adapter).toBeCloseTo((60 / 3_600) * EVEN["gpu-hour"], 2);
  expect(meanWork(EVEN)).toBeCloseTo(60);
});

test("cards and jobs that fail cost time, and no session is lost", () => {
  const often = { ...EVEN, "failed-jobs": 0.5, "gpu-mtbf-hours": 2 };
  const [calm, rough] = [EVEN, often].map((assumed) => simulate({ gpus: 4, sessions: 1_000, assumed }));
  expect(rough.failed_jobs).toBeGreaterThan(300);
  expect(rough.card_failures).toBeGreaterThan(1);
  expect(rough.utilisation).toBeGreaterThan(calm.utilisation * 1.1);
  expect(rough.adapters).toBeGreaterThan(0.97 * calm.adapters);
});

test("a control plane that is too slow is where jobs wait", () => {
  const { control_plane, queue_seconds } = simulate({ gpus: 1_000, sessions: 20_000, assumed: { ...EVEN, "plane-jobs": 0.2 } });
  expect(control_plane).toBeGreaterThan(0.99);
  expect(queue_seconds.median).toBeGreaterThan(1_000);
});

test("every assumption says where it comes from, and what is no number is refused by name", () => {
  for (const { what, source } of Object.values(ASSUMPTIONS)) expect([what, source].every((text) => text.length > 3)).toBe(true);
  expect(() => readAssumptions({ ...DEFAULTS, peak: "high" })).toThrow(/--peak/);
});

test("what comes first leaves the heap first, and of equals the earlier one", () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 9 })), (times) => {
      const heap = createHeap();
      for (const [index, at] of times.entries()) heap.push(at, index);
      const left = times.map(() => heap.pop());
      const sorted = times.map((at, index) => [at, index]).sort((a, b) => a[0] - b[0] || a[1] - b[1]);
      expect(left.map(({ at, value }) => [at, value])).toEqual(sorted);
      expect(heap.size).toBe(0);
    }),
  );
});

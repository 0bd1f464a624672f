import fc from "fast-check";
import { expect, test } from "vitest";
import { defer } from "../../src/common/promises.js";
import { createScheduler } from "../../src/jobs/scheduler.js";
import { manualClock } from "../common/manual-clock.js";

interface Stage {
  readonly started: string[];
  enqueue(...job_ids: string[]): void;
  /** In order of their start. */
  running(): string[];
  end(job_id: string): Promise<void>;
}

/** Jobs whose ids begin with their batch; those of batch - have slots of their own. */
function stageOf(slots: number, jobsPerBatch: number): Stage {
  const clock = manualClock();
  const ends = new Map<string, () => void>();
  const started: string[] = [];
  const scheduler = createScheduler({
    slots,
    jobsPerBatch,
    clock,
    batchOf: (job_id) => (job_id.startsWith("-") ? null : (job_id[0] as string)),
    run: (job_id) => {
      started.push(job_id);
      const over = defer<void>();
      ends.set(job_id, over.resolve);
      return over.promise;
    },
  });
  return {
    started,
    enqueue: (...job_ids) => {
      for (const job_id of job_ids) scheduler.enqueue(job_id);
      clock.advance(0);
    },
    running: () => [...ends.keys()],
    end: async (job_id) => {
      ends.get(job_id)?.();
      ends.delete(job_id);
      await new Promise(setImmediate);
    },
  };
}

test("jobs of one batch share a slot, also after the first of them ended", async () => {
  const { enqueue, running, end } = stageOf(1, 3);
  enqueue("a1", "a2");
  expect(running()).toEqual(["a1", "a2"]);
  await end("a1");
  enqueue("a3", "a4", "a5");
  expect(running()).toEqual(["a2", "a3", "a4"]);
});

test("a job of no batch waits for a slot of its own, and nobody behind it overtakes it", async () => {
  const { enqueue, running, end } = stageOf(1, 3);
  enqueue("a1", "-2", "a3");
  expect(running()).toEqual(["a1"]);
  await end("a1");
  expect(running()).toEqual(["-2"]);
  await end("-2");
  expect(running()).toEqual(["a3"]);
});

test("at any time no more slots are taken than there are, and jobs start in order", async () => {
  const action = fc.oneof(fc.record({ batch: fc.constantFrom("a", "b", "-") }), fc.record({ ends: fc.nat(9) }));
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 3 }),
      fc.integer({ min: 1, max: 3 }),
      fc.array(action, { maxLength: 40 }),
      async (slots, most, actions) => {
        const stage = stageOf(slots, most);
        const queued: string[] = [];
        for (const one of actions) {
          if ("batch" in one) {
            queued.push(`${one.batch}${queued.length}`);
            stage.enqueue(queued.at(-1) as string);
          } else await stage.end(stage.running()[one.ends % Math.max(1, stage.running().length)] ?? "");
          const running = stage.running();
          const of = (batch: string): number => running.filter((id) => id.startsWith(batch)).length;
          // The fewest slots that these jobs can have.
          expect(of("-") + Math.ceil(of("a") / most) + Math.ceil(of("b") / most)).toBeLessThanOrEqual(slots);
          expect(running.length).toBeLessThanOrEqual(slots * most);
          expect(stage.started).toEqual(queued.slice(0, stage.started.length));
          if (running.length === 0) expect(stage.started).toEqual(queued);
        }
      },
    ),
  );
});

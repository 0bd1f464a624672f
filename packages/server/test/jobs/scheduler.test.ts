import fc from "fast-check";
import { expect, test } from "vitest";
import { defer } from "../../src/common/promises.js";
import { createScheduler } from "../../src/jobs/scheduler.js";
import { manualClock } from "../common/manual-clock.js";

interface Stage {
  readonly started: string[];
  enqueue(job_id: string): void;
  /** In order of their start. */
  running(): string[];
  end(job_id: string): Promise<void>;
}

function stageOf(slots: number): Stage {
  const clock = manualClock();
  const ends = new Map<string, () => void>();
  const started: string[] = [];
  const scheduler = createScheduler({
    slots,
    besideOf: (job_id) => /^beside ./.exec(job_id)?.[0] ?? null,
    clock,
    run: (job_id) => {
      started.push(job_id);
      const over = defer<void>();
      ends.set(job_id, over.resolve);
      return over.promise;
    },
  });
  return {
    started,
    enqueue: (job_id) => {
      scheduler.enqueue(job_id);
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

test("at any time no more slots are taken than there are, and jobs start in order", async () => {
  const action = fc.oneof(fc.constant("enqueue" as const), fc.record({ ends: fc.nat(9) }));
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 3 }), fc.array(action, { maxLength: 40 }), async (slots, actions) => {
      const stage = stageOf(slots);
      const queued: string[] = [];
      for (const one of actions) {
        if (one === "enqueue") {
          queued.push(`job ${queued.length}`);
          stage.enqueue(queued.at(-1) as string);
        } else await stage.end(stage.running()[one.ends % Math.max(1, stage.running().length)] ?? "");
        const running = stage.running();
        expect(running.length).toBeLessThanOrEqual(slots);
        expect(stage.started).toEqual(queued.slice(0, stage.started.length));
        if (running.length < slots) expect(stage.started).toEqual(queued);
      }
    }),
  );
});

test("jobs of one place beside the slots go one after the other, and hold nobody else up", async () => {
  const stage = stageOf(1);
  for (const job_id of ["long 1", "long 2", "beside a 1", "beside a 2", "beside b"]) stage.enqueue(job_id);
  expect(stage.running()).toEqual(["long 1", "beside a 1", "beside b"]);
  await stage.end("beside a 1");
  expect(stage.running()).toEqual(["long 1", "beside b", "beside a 2"]);
  await stage.end("long 1");
  expect(stage.running()).toEqual(["beside b", "beside a 2", "long 2"]);
});

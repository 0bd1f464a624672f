import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { ErrorCode } from "@imprint/contracts";
import { describe, expect, onTestFinished, test } from "vitest";
import type { Outcome, Runner, TaskEvent } from "../../src/runners/runner.js";
import { evaluateTask, loraTask, outcomeOf, startWatched, temporaryFolder } from "./support.js";

/**
 * A runner whose trainer is this program of test/fixtures/workers with these arguments. It runs one job at a time, and gives a
 * trainer that does not stop 200 ms.
 */
export type OpenRunner = (worker: string, args: readonly string[]) => Runner;

/** What holds of every runner, whatever its jobs run on. */
export const conformance = (name: string, openRunner: OpenRunner): void => {
  const open: OpenRunner = (worker, args) => {
    const runner = openRunner(worker, args);
    onTestFinished(() => runner.close(0));
    return runner;
  };
  const trainer = (behaviour: object = {}): Runner => open("trainer.mjs", [JSON.stringify(behaviour)]);
  const task = () => loraTask({ output_dir: temporaryFolder() });
  const failedWith = (code: ErrorCode): unknown =>
    expect.objectContaining({ type: "failed", error: expect.objectContaining({ code }) });
  const inPhase = (phase: string) => (event: TaskEvent) => event.type === "phase" && event.phase === phase;

  describe(`${name}: a job that goes well`, () => {
    test("tells its events in order, each of the job, and is done with its files there", async () => {
      const one = task();
      const watched = startWatched(trainer({ steps: 3 }), one);
      const outcome = await watched.outcome;
      const told = watched.events.flatMap((event): readonly (string | number)[] => {
        if (event.type === "phase") return [event.phase];
        return event.type === "progress" ? [event.progress.step] : event.type === "plan" ? ["plan"] : [];
      });
      expect(told).toEqual(["preparing_data", "loading_model", "plan", "training", 1, 2, 3, "saving", "proving"]);
      expect(new Set(watched.events.map(({ job_id }) => job_id))).toEqual(new Set([one.job_id]));
      if (outcome.type !== "done") throw new Error(JSON.stringify(outcome));
      expect(outcome.result.files.map(({ name: file }) => file).sort()).toEqual(readdirSync(one.spec.output_dir).sort());
    });

    test("of an evaluation tells how far it is, and is done with what it wrote", async () => {
      const [adapter_path, output_dir, cache_dir] = [temporaryFolder(), temporaryFolder(), temporaryFolder()];
      writeFileSync(join(adapter_path, "README.md"), "# a\n");
      const session = join(adapter_path, "s.json");
      writeFileSync(session, "{}");
      const spec = { adapter_path, output_dir, cache_dir, sessions: [{ session_id: "s", path: session }] };
      const watched = startWatched(trainer(), evaluateTask(spec));
      const outcome = await watched.outcome;
      const done = watched.events.flatMap((event) => (event.type === "measuring" ? [event.measuring.done] : []));
      expect(done.length).toBeGreaterThan(1);
      expect(done).toEqual(done.toSorted((a, b) => a - b));
      if (outcome.type !== "done" || !("evaluation" in outcome.result)) throw new Error(JSON.stringify(outcome));
      expect(JSON.parse(readFileSync(join(output_dir, "evaluation.json"), "utf8"))).toEqual(outcome.result.evaluation);
    });

    test("tells its log", async () => {
      const watched = startWatched(trainer({ stderr: "something to know\n" }), task());
      await watched.outcome;
      expect(watched.logText()).toContain("something to know\n");
    });

    test("goes well whoever listens badly", async () => {
      const { outcome } = trainer().start(task(), () => {
        throw new Error("a listener's own fault");
      });
      expect(await outcome).toMatchObject({ type: "done" });
    });

    test("is not mixed up with others that were started at once", async () => {
      const runner = trainer({ steps: 2 });
      const watched = Array.from({ length: 4 }, () => {
        const one = task();
        return { one, ...startWatched(runner, one) };
      });
      for (const { outcome } of watched) expect(await outcome).toMatchObject({ type: "done" });
      for (const { one, events } of watched) expect(events.every(({ job_id }) => job_id === one.job_id)).toBe(true);
    });
  });

  describe(`${name}: a job that goes wrong`, () => {
    const error = { code: "DISK_FULL", message: "The disk is full.", hint: "Free some." };

    test("fails with what its trainer says", async () => {
      expect(await outcomeOf(trainer({ fail: error }), task())).toEqual({ type: "failed", error });
    });

    const rows: readonly (readonly [worker: string, args: readonly string[], code: ErrorCode])[] = [
      ["dies.mjs", ["3"], "WORKER_CRASHED"],
      ["dies.mjs", ["SIGSEGV"], "WORKER_CRASHED"],
      ["dies.mjs", ["1", "torch.OutOfMemoryError: CUDA out of memory."], "OUT_OF_MEMORY"],
      ["odd.mjs", ["nothing", "0"], "WORKER_NO_RESULT"],
      ["odd.mjs", ["half-line", "3"], "WORKER_CRASHED"],
      ["odd.mjs", ["garbage"], "WORKER_PROTOCOL"],
      ["odd.mjs", ["invalid-utf8"], "WORKER_PROTOCOL"],
      ["odd.mjs", ["nan"], "WORKER_PROTOCOL"],
      ["odd.mjs", ["extra-key"], "WORKER_PROTOCOL"],
      ["odd.mjs", ["stranger"], "WORKER_PROTOCOL"],
      ["odd.mjs", ["unasked-cancel"], "WORKER_PROTOCOL"],
      ["starts-badly.mjs", ["exit"], "WORKER_START_FAILED"],
      ["starts-badly.mjs", ["protocol"], "WORKER_PROTOCOL"],
    ];
    test.each(rows)("%s %j: %s", async (worker, args, code) => {
      expect(await outcomeOf(open(worker, args), task())).toEqual(failedWith(code));
    });

    test("takes no other with it", async () => {
      const folder = temporaryFolder();
      const runner = trainer();
      const deadly = loraTask({ session_paths: [join(folder, "deadly")], output_dir: folder });
      writeFileSync(join(folder, "deadly.behaviour.json"), JSON.stringify({ exit: 9 }));
      const [first, second] = [outcomeOf(runner, deadly), outcomeOf(runner, task())];
      expect(await first).toEqual(failedWith("WORKER_CRASHED"));
      expect(await second).toMatchObject({ type: "done" });
    });
  });

  describe(`${name}: what a trainer repeats`, () => {
    test("is not told: steps grow, and nothing follows the outcome", async () => {
      const steps = startWatched(open("odd.mjs", ["steps"]), task());
      await steps.outcome;
      expect(steps.events.flatMap((event) => (event.type === "progress" ? [event.progress.step] : []))).toEqual([2, 3, 5]);

      const runner = open("odd.mjs", ["after-done"]);
      const late = startWatched(runner, task());
      await late.outcome;
      const told = late.events.length;
      expect(await outcomeOf(runner, task())).toMatchObject({ type: "done" });
      expect(late.events).toHaveLength(told);
    });
  });

  describe(`${name}: a job that is cancelled`, () => {
    test("at once, or while its trainer starts, is never handed over", async () => {
      const folder = temporaryFolder();
      const runner = trainer({ ready_after: join(folder, "ready") });
      const [first, second] = [startWatched(runner, task()), startWatched(runner, task())];
      second.cancel();
      first.cancel();
      expect(await Promise.all([first.outcome, second.outcome])).toEqual([{ type: "cancelled" }, { type: "cancelled" }]);
      writeFileSync(join(folder, "ready"), "");
      expect(await outcomeOf(runner, task())).toMatchObject({ type: "done" });
      expect([...first.events, ...second.events]).toEqual([]);
    });

    test.each(["training", "saving"])("in %s stops, and what waits behind it runs", async (wait_in) => {
      const go = join(temporaryFolder(), "go");
      const runner = trainer({ wait_for: go, wait_in });
      const watched = startWatched(runner, task());
      const next = startWatched(runner, task());
      await watched.seen(inPhase(wait_in));
      watched.cancel();
      watched.cancel();
      expect(await watched.outcome).toEqual({ type: "cancelled" });
      writeFileSync(go, "");
      expect(await next.outcome).toMatchObject({ type: "done" });
    });

    test("while it waits behind another does not disturb that one", async () => {
      const go = join(temporaryFolder(), "go");
      const runner = trainer({ wait_for: go });
      const first = startWatched(runner, task());
      await first.seen(({ type }) => type === "progress");
      const second = startWatched(runner, task());
      second.cancel();
      expect(await second.outcome).toEqual({ type: "cancelled" });
      writeFileSync(go, "");
      expect(await first.outcome).toMatchObject({ type: "done" });
    });

    test("is cancelled, even if its trainer goes on", async () => {
      const never = join(temporaryFolder(), "never");
      const watched = startWatched(trainer({ wait_for: never, ignore_cancel: true }), task());
      await watched.seen(({ type }) => type === "progress");
      watched.cancel();
      expect(await watched.outcome).toEqual({ type: "cancelled" });
    });

    test("after its outcome has that outcome", async () => {
      const watched = startWatched(trainer(), task());
      const outcome = await watched.outcome;
      watched.cancel();
      expect(await watched.outcome).toBe(outcome);
    });
  });

  test(`${name}: a job that is under way is not started twice`, async () => {
    const go = join(temporaryFolder(), "go");
    const runner = trainer({ wait_for: go });
    const one = task();
    const first = startWatched(runner, one);
    await first.seen(({ type }) => type === "progress");
    const again = startWatched(runner, one);
    again.cancel();
    expect(await again.outcome).toEqual(failedWith("TRAINER_ERROR"));
    writeFileSync(go, "");
    expect(await first.outcome).toMatchObject({ type: "done" });
    expect(again.events).toEqual([]);
  });

  test(`${name}: nothing is adopted that is not there`, async () => {
    expect(await trainer().adopt(task().job_id, () => expect.unreachable())).toBeNull();
  });

  test(`${name}: closing ends what runs and what waits, and takes no more`, async () => {
    const never = join(temporaryFolder(), "never");
    const runner = trainer({ wait_for: never, ignore_cancel: true });
    const running = startWatched(runner, task());
    await running.seen(({ type }) => type === "progress");
    const waiting = startWatched(runner, task());
    const told = running.events.length;
    await Promise.all([runner.close(100), runner.close(0)]);
    const late: Outcome = await outcomeOf(runner, task());
    for (const outcome of [await running.outcome, await waiting.outcome, late])
      expect(outcome).toEqual(failedWith("SHUTTING_DOWN"));
    expect(running.events.slice(told).filter(({ type }) => type !== "log")).toEqual([]);
  });
};

import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { planRepository, repositories } from "../../tasks/generate/repository.mjs";
import { passes, runAll, withCopy, writeRepository } from "../../tasks/generate/write.mjs";

/** All twelve of a seed where it is named (`BENCH_TASKS_SEED=first npx vitest run bench/test/tasks`); else one of each kind, of another seed. */
const named = process.env.BENCH_TASKS_SEED;
const seed = named ?? "a test's";
const chosen = repositories(seed).filter(({ name }) => named !== undefined || name.endsWith("-1"));
const LIMIT_MS = 600_000;

let folder;
beforeAll(() => {
  folder = mkdtempSync(path.join(os.tmpdir(), "imprint-tasks-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A plan's tasks; of a sample every second one. */
const sampled = (plan) => (named === undefined ? { ...plan, tasks: plan.tasks.filter((_, at) => at % 2 === 0) } : plan);

/** What a list of commands leaves, by the task's check. */
const passesAfter = (repository, task, commands) =>
  withCopy(repository, (copy) => {
    runAll(copy, commands);
    return passes(task, copy);
  });

describe("a repository of each kind", () => {
  it.each(chosen)(
    "$name: each check passes after every way of the expert alone",
    (one) => {
      const whole = planRepository({ ...one, seed });
      expect(whole.tasks).toHaveLength(24);
      const plan = sampled(whole);
      const place = path.join(folder, one.name);
      const files = writeRepository(plan, place);
      const wrong = [];
      // Of a sample: of a task's ways one of each sort in turn.
      const sample = (list, at) => (named === undefined ? [list[at % list.length]] : list);
      for (const [at, task] of plan.tasks.entries()) {
        const passed = (commands) => passesAfter(path.join(place, "repository"), files.get(task.name), commands);
        for (const way of sample(task.ways, at)) if (!passed(way.map(({ command }) => command))) wrong.push([task.name, way]);
        for (const way of sample(task.wrong, at)) if (passed(way)) wrong.push([task.name, way]);
      }
      expect(wrong).toEqual([]);
    },
    LIMIT_MS,
  );
});

it("makes the same bytes of the same seed, and others of another", () => {
  const made = (name, of) => {
    const place = path.join(folder, name);
    writeRepository(sampled(planRepository({ name: "docs-2", kind: "docs", seed: of })), place);
    const commit = execFileSync("git", ["rev-parse", "HEAD"], { cwd: path.join(place, "repository"), encoding: "utf8" });
    return {
      commit,
      tasks: readdirSync(path.join(place, "tasks")).map((file) => readFileSync(path.join(place, "tasks", file), "utf8")),
    };
  };
  expect(made("one", "first")).toEqual(made("again", "first"));
  expect(made("one", "first").commit).not.toBe(made("other", "second").commit);
}, 120_000);

it("asks for other names in other words where tasks are held out", () => {
  for (const of of ["first", "second", "third"])
    for (const one of repositories(of)) {
      const { tasks } = planRepository({ ...one, seed: of });
      const [training, heldOut] = ["training", "heldOut"].map((side) => tasks.filter((task) => task.side === side));
      expect([training.length, heldOut.length]).toEqual([12, 12]);
      const names = new Set(training.flatMap(({ subjects, prompt }) => [...subjects, prompt]));
      const shared = heldOut.flatMap(({ subjects, prompt }) => [subjects[0], prompt]).filter((it) => names.has(it));
      expect(shared).toEqual([]);
      expect(new Set(heldOut.filter(({ shown }) => !shown).map(({ family }) => family)).size).toBe(1);
      expect(training.every(({ shown }) => shown)).toBe(true);
    }
});

it("puts four repositories of different kinds into the tuning half, eight into the test", () => {
  for (const of of ["first", "second"]) {
    const all = repositories(of);
    const tuning = all.filter(({ half }) => half === "tuning");
    expect(new Set(tuning.map(({ kind }) => kind)).size).toBe(4);
    expect([tuning.length, all.length]).toEqual([4, 12]);
  }
});

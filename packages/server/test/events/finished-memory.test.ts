import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, test } from "vitest";
import { createCurve } from "../../src/events/curve.js";
import { createLogTails } from "../../src/jobs/log-tails.js";
import { progressAt } from "../support/progress.js";

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;

const used = (): number => {
  collect();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
};

function finish(jobs: number) {
  const tails = createLogTails();
  const curves = Array.from({ length: jobs }, (_, job) => {
    const curve = createCurve(400);
    for (let step = 1; step <= 700; step += 1) curve.add(progressAt(step));
    curve.end();
    for (let part = 0; part < 20; part += 1) tails.append(String(job), `${job} é ${"x".repeat(500)}\n`.repeat(10));
    tails.end(String(job));
    return curve;
  });
  return { curves, tails };
}

test("the curves and logs of 1,000 finished jobs are less than 10 MB", () => {
  finish(100); // what is compiled on the way is not counted
  const before = used();
  const { curves, tails } = finish(1_000);
  const taken = used() - before;
  expect(taken).toBeLessThan(10_000_000);
  expect(curves).toHaveLength(1_000);
  expect(tails.get("7")).not.toBe("");
});

test("a finished curve keeps its first and last step, at most 100, and seven digits of each figure", () => {
  for (const count of [0, 1, 99, 100, 101, 1_000]) {
    const curve = createCurve(400);
    for (let step = 1; step <= count; step += 1) curve.add(progressAt(step));
    const before = curve.points();
    curve.end();
    const after = curve.points();
    expect(after.length).toBe(Math.min(before.length, 100));
    expect([after[0]?.step, after.at(-1)?.step]).toEqual(count === 0 ? [undefined, undefined] : [1, count]);
    for (const point of after) {
      const exact = progressAt(point.step);
      for (const field of Object.keys(exact) as (keyof typeof exact)[])
        expect(Math.abs(Number(point[field]) - Number(exact[field]))).toBeLessThanOrEqual(1e-6 * Math.abs(Number(exact[field])));
      expect(point.held_out_loss === null).toBe(exact.held_out_loss === null);
    }
  }
});

test("the end of a finished job's log is kept by whole lines, the beginning of a short one too", () => {
  const tails = createLogTails();
  tails.append("long", "é".repeat(3_000));
  tails.append("long", "\nsecond line\n".repeat(100));
  tails.end("long");
  expect(tails.get("long").startsWith("\n") || tails.get("long").startsWith("second line")).toBe(true);
  expect(tails.get("long").endsWith("\nsecond line\n")).toBe(true);
  expect(Buffer.byteLength(tails.get("long"))).toBeLessThanOrEqual(4_096);
  tails.append("short", "é\n");
  tails.end("short");
  expect(tails.get("short")).toBe("é\n");
});

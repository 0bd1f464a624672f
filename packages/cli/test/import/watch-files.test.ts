import { expect, it } from "vitest";
import type { Candidate } from "../../src/files/candidate.js";
import { QUIET_MS, watchFiles } from "../../src/import/watch-files.js";

const file = (path: string, size: number, modified: number): Candidate => ({ path, named: false, size, modified });

/** A folder whose content is decided at each look; time passes only in sleep. */
async function watched(looks: readonly ((now: number) => readonly Candidate[])[]): Promise<readonly string[][]> {
  const stop = new AbortController();
  const taken: string[][] = [];
  let now = 1_000_000;
  let round = 0;
  await watchFiles({
    look: async () => looks[round]?.(now) ?? [],
    take: async (candidates) => void taken.push(candidates.map(({ path, size }) => `${path} ${size}`)),
    clock: {
      now: () => now,
      sleep: async (ms) => {
        now += ms;
        round += 1;
        if (round === looks.length) stop.abort();
      },
    },
    signal: stop.signal,
  });
  return taken;
}

const START = 1_000_000;

it("takes a file once nobody writes to it any more, and not twice", async () => {
  const growing = (now: number) => [file("a", 10, START)].filter(() => now >= START);
  expect(await watched(Array(6).fill(growing))).toEqual([["a 10"]]);
});

it("leaves a file alone as long as it grows", async () => {
  expect(await watched(Array(8).fill((now: number) => [file("a", now, now - QUIET_MS + 1)]))).toEqual([]);
});

it("takes a file again when it grew since, and new files beside it", async () => {
  const old = START - QUIET_MS;
  expect(
    await watched([
      () => [file("a", 10, old)],
      () => [file("a", 10, old), file("b", 5, old)],
      () => [file("a", 20, old + 1), file("b", 5, old)],
      () => [file("a", 20, old + 1)],
    ]),
  ).toEqual([["a 10"], ["b 5"], ["a 20"]]);
});

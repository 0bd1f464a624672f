import { mkdirSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type Leases, soleLeases } from "../../src/storage/leases.js";
import { watchLives } from "../../src/storage/life.js";
import { dataPaths } from "../../src/storage/paths.js";
import { manualClock } from "../common/manual-clock.js";
import { makeFolder } from "../support/service.js";

const watched = (leases: Leases = soleLeases) => {
  const paths = dataPaths(makeFolder(), "mine");
  const clock = manualClock();
  const folder = join(paths.services, "other");
  mkdirSync(folder, { recursive: true });
  const beat = (): void => {
    writeFileSync(join(folder, "alive"), "");
    utimesSync(join(folder, "alive"), new Date(clock.now()), new Date(clock.now()));
  };
  beat();
  return { look: watchLives({ paths, leases, clock }), clock, folder, beat };
};

test("of a service without its lease nobody knows while its sign of life changes", async () => {
  const { look, clock, beat } = watched();
  for (let minute = 0; minute < 5; minute += 1) {
    expect(await look("other")).toBe("unknown");
    clock.advance(60_000);
    beat();
  }
});

test("one whose sign stood still for a minute and a half is gone, whatever the clock of its machine says", async () => {
  const { look, clock, folder } = watched();
  const ahead = new Date(clock.now() + 86_400_000);
  utimesSync(join(folder, "alive"), ahead, ahead);
  expect(await look("other")).toBe("unknown");
  clock.advance(89_000);
  expect(await look("other")).toBe("unknown");
  clock.advance(1_000);
  expect(await look("other")).toBe("gone");
});

test("one that was silent for ten minutes, or took its folder with it, is gone at the first look", async () => {
  const { look, clock, folder } = watched();
  clock.advance(601_000);
  expect(await look("other")).toBe("gone");
  rmSync(folder, { recursive: true });
  expect(await look("other")).toBe("gone");
});

test("one that has its lease lives, and so does the service that asks", async () => {
  const { look, clock } = watched({ ...soleLeases, take: async () => false });
  clock.advance(3_600_000);
  expect([await look("other"), await look("mine")]).toEqual(["alive", "alive"]);
});

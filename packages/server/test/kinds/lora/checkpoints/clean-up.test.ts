import { mkdirSync, readdirSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { cleanUpCheckpoints } from "../../../../src/kinds/lora/checkpoints/clean-up.js";
import { makeFolder } from "../../../support/service.js";

const NOW = Date.parse("2026-01-01T00:00:00Z");
const idOf = (number: number): string => String(number).padStart(26, "0");

/** Checkpoints written so many seconds ago, by their jobs' numbers. */
const make = (ages: Readonly<Record<number, number>>): string => {
  const folder = makeFolder();
  for (const [number, age] of Object.entries(ages)) {
    const path = join(folder, idOf(Number(number)));
    mkdirSync(path);
    utimesSync(path, new Date(NOW - age * 1000), new Date(NOW - age * 1000));
  }
  return folder;
};

const rows: readonly (readonly [
  what: string,
  ages: Readonly<Record<number, number>>,
  keep: number,
  inUse: number[],
  left: number[],
])[] = [
  ["all stay while few and young", { 1: 10, 2: 20 }, 2, [], [1, 2]],
  ["the oldest go beyond the count", { 1: 10, 2: 30, 3: 20 }, 2, [], [1, 3]],
  ["the old go whatever the count", { 1: 10, 2: 101 }, 9, [], [1]],
  ["one in use stays and does not count", { 1: 10, 2: 500, 3: 20 }, 1, [2], [1, 2]],
  ["none is kept where none shall be", { 1: 0, 2: 0 }, 0, [], []],
];

test.each(rows)("%s", async (_what, ages, keep, inUse, left) => {
  const folder = make(ages);
  const options = { folder, keep, keepMs: 100_000, now: NOW, inUse: new Set(inUse.map(idOf)) };
  const gone = await cleanUpCheckpoints(options);
  expect(readdirSync(folder).sort()).toEqual(left.map(idOf));
  expect([...gone, ...left.map(idOf)].sort()).toEqual(Object.keys(ages).map((number) => idOf(Number(number))));
});

test("what is no job's folder is left alone", async () => {
  const folder = make({ 1: 1000 });
  mkdirSync(join(folder, "notes"));
  await cleanUpCheckpoints({ folder, keep: 0, keepMs: 1, now: NOW, inUse: new Set() });
  expect(readdirSync(folder)).toEqual(["notes"]);
});

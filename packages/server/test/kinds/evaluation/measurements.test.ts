import { readdirSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { cleanUpMeasurements } from "../../../src/kinds/evaluation/measurements.js";
import { makeFolder } from "../../support/service.js";

const DAY = 24 * 3600;

test("old measurements go, and the oldest of those that take too much room", async () => {
  const folder = makeFolder();
  const put = (name: string, days: number): void => {
    writeFileSync(join(folder, name), "0123456789");
    utimesSync(join(folder, name), 100 * DAY - days * DAY, 100 * DAY - days * DAY);
  };
  put("new", 1);
  put("month", 29);
  put("old", 31);
  await cleanUpMeasurements({ folder, now: 100 * DAY * 1000 });
  expect(readdirSync(folder).sort()).toEqual(["month", "new"]);
  await cleanUpMeasurements({ folder, now: 100 * DAY * 1000, keptBytes: 19 });
  expect(readdirSync(folder)).toEqual(["new"]);
});

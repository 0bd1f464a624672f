import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { instanceOf } from "../../../src/runners/ray/storage.js";
import { temporaryFolder } from "../support.js";

test("a data directory has one name on its cluster, made once, and again where it cannot be read", () => {
  const folder = temporaryFolder();
  const made = instanceOf(folder);
  expect(made).toMatch(/^[0-9a-f]{12}$/);
  expect([instanceOf(folder), readdirSync(folder)]).toEqual([made, ["instance"]]);
  writeFileSync(join(folder, "instance"), "nonsense");
  const again = instanceOf(folder);
  expect(again).toMatch(/^[0-9a-f]{12}$/);
  expect([instanceOf(folder), readdirSync(folder)]).toEqual([again, ["instance"]]);
});

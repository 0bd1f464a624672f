import { statSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { makeFolder } from "../../src/storage/paths.js";
import { makeFolder as temporaryFolder } from "../support/service.js";

test("a folder is closed to other users, and so is each that is made above it", () => {
  const folder = join(temporaryFolder(), "above", "data", "adapters");
  makeFolder(folder);
  makeFolder(folder); // is there
  const made = [folder, dirname(folder), dirname(dirname(folder))];
  expect(made.map((one) => (statSync(one).mode & 0o777).toString(8))).toEqual(["700", "700", "700"]);
});

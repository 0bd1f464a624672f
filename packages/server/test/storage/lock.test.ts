import { expect, test } from "vitest";
import { DataDirectoryInUseError } from "../../src/storage/lock.js";
import { openStorage } from "../../src/storage/open.js";
import { makeFolder } from "../support/service.js";

test("a data directory is one service's until it is closed", async () => {
  const root = makeFolder();
  const first = openStorage(root);
  expect(() => openStorage(root)).toThrow(DataDirectoryInUseError);
  await first.close();
  await openStorage(root).close();
});

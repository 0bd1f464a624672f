import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { CannotStartError } from "../../src/common/error.js";
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

test("a data directory whose registry was in Postgres is refused in a sentence, and nothing in it is touched", () => {
  const root = makeFolder();
  mkdirSync(join(root, "adapters", "gates-v1"), { recursive: true });
  writeFileSync(join(root, "registry.id"), "5f7a\n");
  const open = () => openStorage(root);
  expect(open).toThrow(CannotStartError);
  expect(open).toThrow(/is in Postgres: use the Imprint that wrote it, or another --data-dir/);
  expect(readdirSync(root, { recursive: true }).sort()).toEqual(["adapters", "adapters/gates-v1", "registry.id"]);
});

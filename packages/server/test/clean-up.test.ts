import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { cleanUp } from "../src/clean-up.js";
import { createDiscards } from "../src/storage/discards.js";
import { openDatabase } from "../src/storage/open.js";
import { dataPaths, ensureDataPaths } from "../src/storage/paths.js";
import { makeFolder } from "./support/service.js";

const discardedIn = (root: string): readonly string[] => readdirSync(root).filter((name) => name.startsWith(".discarded-"));

test("what was being imported is put out of the way by the clean-up, and removed afterwards, also after a stop in its middle", async () => {
  const paths = dataPaths(makeFolder());
  ensureDataPaths(paths);
  const database = openDatabase({ path: paths.database });
  onTestFinished(() => database.destroy());
  const staging = join(paths.incoming, "import-1");
  mkdirSync(staging);
  for (let at = 0; at < 2000; at += 1) writeFileSync(join(staging, `${at}.json`), "");

  await cleanUp({ database, paths });
  expect(readdirSync(paths.incoming)).toEqual([]);
  const [aside = ""] = discardedIn(paths.root);
  expect(readdirSync(join(paths.root, aside, "import-1"))).toHaveLength(2000);

  const onError = vi.fn();
  const stopped = createDiscards({ root: paths.root, onError });
  await stopped.resume();
  await stopped.close();
  expect(discardedIn(paths.root)).toEqual([aside]);

  const next = createDiscards({ root: paths.root, onError });
  await next.resume();
  await vi.waitFor(() => expect(discardedIn(paths.root)).toEqual([]), { timeout: 20_000 });
  await next.close();
  expect(onError).not.toHaveBeenCalled();
}, 60_000);

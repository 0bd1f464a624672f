import { appendFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { buffer } from "node:stream/consumers";
import { expect, onTestFinished, test, vi } from "vitest";
import { cut, mount } from "../../../server/test/simulate/disk.js";
import { createRandom } from "../../../server/test/support/random.js";
import { archivePass } from "../../src/archive/pass.js";
import { openArchive, read } from "../../src/archive/store.js";

vi.mock("node:fs/promises", async (original) =>
  (await import("../../../server/test/simulate/disk.js")).faultyFiles(await original()),
);

test("whenever the power is cut after a pass, all that the index names is there, and it names all that the pass saw", async () => {
  const place = mkdtempSync(path.join(tmpdir(), "imprint-power-"));
  onTestFinished(() => rmSync(place, { recursive: true, force: true }));
  const [folder, source] = [path.join(place, "archive"), path.join(place, "projects")];
  mkdirSync(folder);
  mkdirSync(source);
  const random = createRandom(7);
  const seen = new Map<string, string>();
  for (let round = 0; round < 20; round += 1) {
    const file = path.join(source, `${Math.floor(random() * 5)}.jsonl`);
    // Half of the time the file goes on, else another stands in its place.
    if (random() < 0.5) appendFileSync(file, `round ${round}\n`);
    else writeFileSync(file, `instead, in round ${round}\n`);
    mount(folder);
    const archive = (await openArchive(folder)) ?? { folder, files: new Map() };
    await archivePass({ archive, places: [source], signal: new AbortController().signal });
    for (const { path: kept, sha256 } of archive.files.values()) seen.set(kept, sha256);
    const left = path.join(place, `cut-${round}`);
    cut(left, random);
    const found = await openArchive(left);
    expect(new Map([...(found?.files.values() ?? [])].map((one) => [one.path, one.sha256]))).toEqual(seen);
    for (const { sha256, older } of found?.files.values() ?? [])
      for (const one of [sha256, ...older]) if (found) expect((await buffer(read(found, one))).length).toBeGreaterThan(0);
  }
  mount(null);
});

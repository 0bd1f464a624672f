import { linkSync, mkdirSync, rmSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { expect, test } from "vitest";
import { filesOf, printOf } from "../../../../src/runners/ray/stores/store.js";
import { temporaryFolder } from "../../support.js";

/** A folder as a cache of models makes it: files of one size and one time, by links to where their content lies. */
const cached = (content: string, link: (target: string, path: string) => void): string => {
  const [blobs, snapshot] = [temporaryFolder(), temporaryFolder()];
  const blob = join(blobs, "blob");
  writeFileSync(blob, content);
  utimesSync(blob, 1_800_000_000, 1_800_000_000);
  link(blob, join(snapshot, "model.safetensors"));
  return snapshot;
};

test.each([
  ["symbolic links", symlinkSync],
  ["hard links", linkSync],
])("two models whose files are %s of one size and time have two fingerprints, and each the same again", async (_what, link) => {
  const [one, two] = [cached("one", link), cached("two", link)];
  expect(await printOf(one)).not.toBe(await printOf(two));
  expect(await printOf(one)).toBe(await printOf(one));
});

test("a link that leads elsewhere since makes another model of the same folder", async () => {
  const folder = temporaryFolder();
  const link = join(folder, "model.safetensors");
  const prints: string[] = [];
  for (const revision of ["one", "two"]) {
    rmSync(link, { force: true });
    symlinkSync(join(cached(revision, linkSync), "model.safetensors"), link);
    prints.push(await printOf(folder));
  }
  expect(prints[0]).not.toBe(prints[1]);
});

test("the files behind links are copied too, those of linked folders as well, and no compiled ones", async () => {
  const folder = cached("weights", symlinkSync);
  const elsewhere = temporaryFolder();
  writeFileSync(join(elsewhere, "tokenizer.json"), "{}");
  symlinkSync(elsewhere, join(folder, "linked"));
  mkdirSync(join(folder, "__pycache__"));
  writeFileSync(join(folder, "__pycache__", "x.pyc"), "");
  const names = (await filesOf(folder)).map((file) => relative(folder, file));
  expect(names).toEqual(["linked/tokenizer.json", "model.safetensors"]);
});

import { mkdir, open, readdir, symlink, writeFile } from "node:fs/promises";
import path from "node:path";
import { beforeAll, describe, expect, it, vi } from "vitest";
import { build } from "../support/build.js";
import { imprint } from "../support/imprint.js";
import { EXAMPLES, type Place, place, servedPlace } from "../support/service.js";

vi.setConfig({ testTimeout: 60_000 });
beforeAll(build, 120_000);

const GB = 10 ** 9;

/** A file of one line that has no end for 2 GB; it takes no room on the disk. */
async function longLine(file: string): Promise<void> {
  const handle = await open(file, "w");
  await handle.write('{"type":"user","message":"');
  await handle.truncate(2 * GB);
  await handle.close();
}

const BAD: readonly (readonly [name: string, make: (file: string) => Promise<void>, sentence: RegExp])[] = [
  [
    "notes.jsonl",
    (file) => writeFile(file, '{"a": 1}\n{"b": 2}\n'),
    /notes\.jsonl: no recorded session of a known format \(JSON without turns\)/,
  ],
  ["picture.json", (file) => writeFile(file, Buffer.from([0x89, 0x50, 0x4e, 0x47, 0, 1, 2, 3])), /picture\.json/],
  ["empty.jsonl", (file) => writeFile(file, ""), /empty\.jsonl.* is empty/],
  ["stored.zip", (file) => writeFile(file, 'PK\u0003\u0004\n{"messages":[]}\n'), /stored\.zip: a ZIP archive/],
  ["bytes.jsonl", (file) => writeFile(file, Buffer.alloc(4096, 0xff)), /bytes\.jsonl/],
  ["line.jsonl", longLine, /line\.jsonl.*(?:session-limit|longer than)/],
];

/** One sentence on standard error, no trace, and exit code 2. */
async function refused(at: Place, args: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await imprint(args, at);
  expect([code, stdout], stderr).toEqual([2, ""]);
  expect(stderr).toMatch(/^error: /m);
  expect(stderr).not.toMatch(/\n\s+at |Unexpected/);
  return stderr;
}

async function expectNothingStored(at: Place): Promise<void> {
  expect(JSON.parse((await imprint(["sessions", "--json"], at)).stdout).sessions).toEqual([]);
}

describe.each(BAD)("%s", (name, make, sentence) => {
  it("is refused by import, inspect and a dry run", async () => {
    const at = await servedPlace();
    const file = path.join(at.root, name);
    await make(file);
    for (const args of [
      ["import", file],
      ["inspect", file],
      ["import", file, "--dry-run"],
    ])
      expect(await refused(at, args), args.join(" ")).toMatch(sentence);
    await expectNothingStored(at);
  });
});

it("a folder without sessions is refused, and says what was looked at", async () => {
  const at = await servedPlace();
  const folder = path.join(at.root, "folder");
  await mkdir(folder);
  expect(await refused(at, ["import", folder])).toContain("no file there looks like a recorded session");
  await writeFile(path.join(folder, "package.json"), '{"name": "x"}');
  const said = await refused(at, ["import", folder]);
  expect(said).toContain("no file there could be imported, nothing is stored");
  expect(said).toContain("package.json: ");
  await expectNothingStored(at);
});

it("a link out of the folder is not followed: alone it is refused, beside sessions it is named", async () => {
  const at = await servedPlace();
  const folder = path.join(at.root, "folder");
  await mkdir(folder);
  await symlink(path.join(EXAMPLES, "harborline-gates.json"), path.join(folder, "out.json"));
  expect(await refused(at, ["import", folder])).toContain("out.json: the link leads out of the folder and is not followed");
  await writeFile(
    path.join(folder, "chat.jsonl"),
    '{"messages":[{"role":"user","content":"Fix it."},{"role":"assistant","content":"Fixed."}]}\n',
  );
  const { code, stdout, stderr } = await imprint(["import", folder], at);
  expect(code).toBe(0);
  expect(stdout).toContain("1 session stored, 1 other file skipped.");
  expect(stderr).toContain("out.json: the link leads out of the folder and is not followed");
});

it("bytes that are no UTF-8 inside a good session cost only themselves", async () => {
  const at = await place();
  const file = path.join(at.root, "chat.jsonl");
  const line = '{"messages":[{"role":"user","content":"Fix \xff it."},{"role":"assistant","content":"Fixed."}]}\n';
  await writeFile(file, Buffer.from(line, "latin1"));
  const { code, stdout } = await imprint(["import", file, "--dry-run", "--json"], at);
  expect(code).toBe(0);
  expect(JSON.parse(stdout).files[0].sessions[0].task).toBe("Fix \ufffd it.");
  expect(await readdir(at.root)).not.toContain("data");
});

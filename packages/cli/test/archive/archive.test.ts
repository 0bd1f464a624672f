import { appendFile, mkdir, mkdtemp, readdir, readFile, rm, stat, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { buffer } from "node:stream/consumers";
import fc from "fast-check";
import { expect, it, onTestFinished } from "vitest";
import { archivePass, type Passed } from "../../src/archive/pass.js";
import { type Archive, openArchive, read, restore } from "../../src/archive/store.js";

interface Place {
  readonly folder: string;
  /** The agent's folder. */
  readonly source: string;
  readonly open: () => Promise<Archive>;
  /** Opens the archive anew, as the next command does. */
  readonly pass: (signal?: AbortSignal) => Promise<Passed>;
}

async function makePlace(): Promise<Place> {
  const place = await mkdtemp(path.join(tmpdir(), "imprint-archive-"));
  onTestFinished(() => rm(place, { recursive: true, force: true }));
  return placeIn(place);
}

async function placeIn(place: string): Promise<Place> {
  const [folder, source] = [path.join(place, "archive"), path.join(place, "projects")];
  await mkdir(source, { recursive: true });
  const open = async (): Promise<Archive> => (await openArchive(folder)) ?? { folder, files: new Map() };
  const pass = async (signal = new AbortController().signal): Promise<Passed> =>
    archivePass({ archive: await open(), places: [source], signal });
  return { folder, source, open, pass };
}

const contentsOf = async (archive: Archive, file: string): Promise<readonly string[]> => {
  const { sha256, older } = archive.files.get(file) ?? { sha256: "", older: [] };
  return Promise.all([sha256, ...older].map(async (one) => (await buffer(read(archive, one))).toString()));
};

const NAMES = ["a.jsonl", "deep/b.jsonl", "opencode.db"];
const step = fc.record({
  name: fc.constantFrom(...NAMES),
  act: fc.constantFrom("append", "rewrite", "cut", "delete", "nothing"),
  text: fc.string({ minLength: 1, maxLength: 20 }),
  pass: fc.boolean(),
});

it("whatever agents do to their files, all that a pass saw is there: the newest, and what it does not continue", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 14 }), async (steps) => {
      const place = await mkdtemp(path.join(tmpdir(), "imprint-archive-"));
      try {
        const { source, open, pass } = await placeIn(place);
        const now = new Map<string, string>();
        const seen = new Map<string, string[]>();
        let clock = 1_000;
        for (const { name, act, text, pass: passes } of steps) {
          const file = path.join(source, name);
          const before = now.get(name) ?? "";
          const after = { append: before + text, rewrite: text, cut: before.slice(0, -1), delete: null, nothing: before }[act];
          if (after === null) {
            now.delete(name);
            await rm(file, { force: true });
          } else if (act !== "nothing") {
            now.set(name, after);
            await mkdir(path.dirname(file), { recursive: true });
            await writeFile(file, after);
            clock += 10; // as the clock of the file system goes on
            await utimes(file, clock, clock);
          }
          if (!passes) continue;
          const { failed } = await pass();
          expect(failed).toEqual([]);
          for (const [each, content] of now) {
            const known = seen.get(each) ?? [];
            if (known.at(-1) !== content) seen.set(each, [...known, content]);
          }
        }
        const archive = await open();
        for (const [name, contents] of seen) {
          const kept = await contentsOf(archive, path.join(source, name));
          expect(kept[0]).toBe(contents.at(-1));
          if (name.endsWith(".db")) continue; // rewritten all the time: the newest alone
          for (const content of contents) expect(kept.some((one) => one.startsWith(content))).toBe(true);
        }
      } finally {
        await rm(place, { recursive: true, force: true });
      }
    }),
    { numRuns: 60 },
  );
});

it("what was deleted is restored to the byte, and what is there is not touched", async () => {
  const { source, open, pass } = await makePlace();
  const [gone, there] = [path.join(source, "gone.jsonl"), path.join(source, "there.jsonl")];
  const bytes = Buffer.from([0, 255, 10, 13, 200, ...Buffer.from("ä\n")]);
  await writeFile(gone, bytes);
  await writeFile(there, "one");
  expect(await pass()).toMatchObject({ new: 2, changed: 0, gone: [] });
  await rm(gone);
  expect((await pass()).gone.map((one) => one.path)).toEqual([gone]);
  const archive = await open();
  await restore(archive, archive.files.get(gone)?.sha256 ?? "", gone);
  expect(await readFile(gone)).toEqual(bytes);
  expect((await stat(gone)).mode & 0o077).toBe(0);
});

it("equal contents are kept once, a file that grew once, and nobody else may read them", async () => {
  const { folder, source, pass } = await makePlace();
  for (const name of ["a.jsonl", "b.jsonl"]) await writeFile(path.join(source, name), "the same\n");
  await pass();
  for (const name of ["a.jsonl", "b.jsonl"]) await appendFile(path.join(source, name), "and more\n");
  expect(await pass()).toMatchObject({ changed: 2 });
  const names = await readdir(folder, { recursive: true });
  expect(names.filter((name) => name.endsWith(".gz"))).toHaveLength(1);
  expect((await stat(folder)).mode & 0o077).toBe(0);
  for (const name of names.filter((one) => /json$|gz$/.test(one)))
    expect((await stat(path.join(folder, name))).mode & 0o077).toBe(0);
});

it("a pass that is stopped keeps what it copied, and the next one goes on", async () => {
  const { source, open, pass } = await makePlace();
  for (const name of ["a", "b", "c"]) await writeFile(path.join(source, `${name}.jsonl`), name);
  const stop = new AbortController();
  const archive = await open();
  const told = (done: number): void => {
    if (done === 2) stop.abort();
  };
  await expect(archivePass({ archive, places: [source], signal: stop.signal, told })).rejects.toThrow();
  expect((await open()).files.size).toBe(2);
  expect(await pass()).toMatchObject({ new: 1, same: 2 });
});

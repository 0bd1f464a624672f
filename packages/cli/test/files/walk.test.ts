import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { UsageError } from "../../src/errors.js";
import { walk } from "../../src/files/walk.js";

/** A folder with the given files (empty) and links (`name -> target`). */
async function folder(entries: readonly string[]): Promise<string> {
  const root = await mkdtemp(path.join(tmpdir(), "imprint-walk-"));
  onTestFinished(() => rm(root, { recursive: true, force: true }));
  for (const entry of entries) {
    const [name = "", target] = entry.split(" -> ");
    await mkdir(path.dirname(path.join(root, name)), { recursive: true });
    if (target === undefined) await writeFile(path.join(root, name), "");
    else await symlink(target, path.join(root, name));
  }
  return root;
}

const found = async (root: string, ...paths: string[]): Promise<string[]> =>
  (await walk(paths.map((name) => path.join(root, name)))).candidates.map(
    (file) => `${file.named ? "named " : ""}${path.relative(root, file.path)}`,
  );

it("walks folders in the order of names and takes what sessions are called", async () => {
  const root = await folder([
    "b/run.traj",
    "a.jsonl",
    "b/x.json",
    "notes.md",
    ".aider.chat.history.md",
    "c.jsonl.zst",
    "code.py",
  ]);
  expect(await found(root, ".")).toEqual([".aider.chat.history.md", "a.jsonl", "b/run.traj", "b/x.json", "c.jsonl.zst"]);
});

it("takes files of tools that are refused by name, so that the import names them", async () => {
  const root = await folder([
    ".specstory/history/gates.md",
    "antigravity/conversations/5b0e8a52.pb",
    "kiro-cli/data.sqlite3",
    "ab/cd.chat",
    "history/gates.md",
    "5b0e8a52.pb",
  ]);
  expect(await found(root, ".")).toEqual([
    ".specstory/history/gates.md",
    "ab/cd.chat",
    "antigravity/conversations/5b0e8a52.pb",
    "kiro-cli/data.sqlite3",
  ]);
});

it("takes a folder of events as one session, in the order of their numbers", async () => {
  const root = await folder(["run/base_state.json", "run/events/10.json", "run/events/9.json", "other/events/notes.json"]);
  await writeFile(path.join(root, "run", "events", "9.json"), "{}");
  const { candidates } = await walk([root]);
  const [other, run, ...rest] = candidates;
  expect([other, run, rest].flat().map((file) => path.relative(root, file?.path ?? ""))).toEqual([
    "other/events/notes.json",
    "run",
  ]);
  expect(run?.parts?.map((part) => path.basename(part))).toEqual(["base_state.json", "9.json", "10.json"]);
  expect(run?.size).toBe(2);
});

it("takes a named file whatever it is called", async () => {
  const root = await folder(["notes.txt"]);
  expect(await found(root, "notes.txt")).toEqual(["named notes.txt"]);
});

it("leaves out folders of programs", async () => {
  const root = await folder(["node_modules/a.json", ".git/b.json", "c.json"]);
  expect(await found(root, ".")).toEqual(["c.json"]);
});

it("follows links inside the folder once, and none that leads out of it, nowhere or round", async () => {
  const outside = await folder(["secret.json"]);
  const root = await folder([
    "sub/a.json",
    "again -> sub",
    `out -> ${outside}`,
    `out.json -> ${outside}/secret.json`,
    "gone.json -> nowhere",
    `notes.txt -> ${outside}/secret.json`,
  ]);
  await symlink("..", path.join(root, "sub", "round"));
  expect(await found(root, ".")).toEqual(["again/a.json"]);
  const { links } = await walk([root]);
  expect(links.map(({ path: link, reason }) => `${path.relative(root, link)}: ${reason}`)).toEqual([
    "gone.json: the link leads nowhere",
    "out: the link leads out of the folder and is not followed",
    "out.json: the link leads out of the folder and is not followed",
  ]);
});

it.each([
  ["missing.json", "no such file"],
  ["/dev/null", "neither a file nor a folder"],
  ["broken", "the link leads nowhere"],
])("refuses %s before anything is read", async (name, sentence) => {
  const root = await folder(["a.json", "broken -> nowhere"]);
  const walking = walk([path.join(root, "a.json"), path.resolve(root, name)]);
  await expect(walking).rejects.toBeInstanceOf(UsageError);
  await expect(walking).rejects.toThrow(sentence);
});

import { lstat, readdir, readFile, readlink, symlink } from "node:fs/promises";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { CommandError, UsageError } from "../../src/errors.js";
import { git } from "../../src/tasks/git.js";
import { installedIn, makeWorkspace } from "../../src/tasks/workspace.js";
import { commit, emptyFolder, taskOn, writeFiles } from "./support.js";

const TASK_FILE = "name: one\nrepository: ..\nprompt: Do it\ncheck: 'true'\nsolution: the answer\n";

/** The workspace of a task, and all that git can say of its past. */
async function made(loaded: Parameters<typeof makeWorkspace>[0]): Promise<{ folder: string; past: string }> {
  const folder = path.join(await emptyFolder(), "workspace");
  await makeWorkspace(loaded, folder);
  const past = `${await git(folder, ["log", "--all", "--reflog", "--patch"])}${await git(folder, ["fsck", "--lost-found"])}`;
  return { folder, past };
}

describe("a task's workspace", () => {
  it("is the commit's state, clean, with nothing of what came later or before", async () => {
    const origin = await emptyFolder();
    await commit(origin, { "a.txt": "earlier\n" });
    const at = await commit(origin, { "a.txt": "asked\n", "deep/b.txt": "b\n", ".gitignore": "kept.txt\n" });
    await git(origin, ["tag", "v1"]);
    await commit(origin, { "a.txt": "solution\n" });
    await writeFiles(origin, { "a.txt": "not committed\n" });
    const { folder, past } = await made(taskOn(origin, { commit: at.slice(0, 8) }));
    expect(await readFile(path.join(folder, "a.txt"), "utf8")).toBe("asked\n");
    expect((await readdir(folder)).sort()).toEqual([".git", ".gitignore", "a.txt", "deep"]);
    expect(await git(folder, ["status", "--porcelain", "--ignored"])).toBe("");
    expect(past).toContain("asked");
    expect(past).not.toMatch(/earlier|solution|not committed/);
    expect(await git(folder, ["remote"])).toBe("");
    expect(await readdir(path.join(folder, ".git"))).not.toContain("hooks");
    await git(folder, ["cat-file", "-e", `${at}^{commit}`]).then(
      () => expect.fail("the original commit is there"),
      () => undefined,
    );
  });

  it("is a commit that only the log of references remembers, and the same each time", async () => {
    const origin = await emptyFolder();
    await commit(origin, { "a.txt": "first\n" });
    const lost = await commit(origin, { "a.txt": "lost\n" });
    await git(origin, ["reset", "--quiet", "--hard", "HEAD~1"]);
    const [one, two] = await Promise.all([1, 2].map(() => made(taskOn(origin, { commit: lost }))));
    expect(await readFile(path.join(one?.folder ?? "", "a.txt"), "utf8")).toBe("lost\n");
    expect(one?.past).toBe(two?.past);
  });

  it("is the newest commit of a URL where the task names none", async () => {
    const origin = await emptyFolder();
    await commit(origin, { "a.txt": "newest\n" });
    const { folder } = await made(taskOn("/nowhere", { repository: `file://${origin}` }));
    expect(await readFile(path.join(folder, "a.txt"), "utf8")).toBe("newest\n");
  });

  it("is a copy of a folder that git does not keep, with links as links", async () => {
    const origin = await emptyFolder();
    const outside = await emptyFolder();
    await writeFiles(outside, { secret: "secret" });
    await writeFiles(origin, { "a.txt": "a\n" });
    await symlink(path.join(outside, "secret"), path.join(origin, "link"));
    const { folder } = await made(taskOn(origin));
    expect(await readlink(path.join(folder, "link"))).toBe(path.join(outside, "secret"));
    expect((await lstat(path.join(folder, "a.txt"))).isFile()).toBe(true);
  });

  it("links to what is installed in the repository and in no commit, where git does not see it", async () => {
    const origin = await emptyFolder();
    await commit(origin, { ".gitignore": "node_modules/\n", "a.txt": "a\n", "venv/tracked": "" });
    await writeFiles(origin, { "node_modules/dep/index.js": "", ".venv/not-ignored": "" });
    const loaded = taskOn(origin);
    expect(await installedIn(loaded)).toEqual([path.join(origin, "node_modules")]);
    const { folder } = await made(loaded);
    expect(await readlink(path.join(folder, "node_modules"))).toBe(path.join(origin, "node_modules"));
    expect(await git(folder, ["status", "--porcelain"])).toBe("");
    expect((await readdir(folder)).sort()).toEqual([".git", ".gitignore", "a.txt", "node_modules", "venv"]);
    expect(await installedIn(taskOn("/nowhere", { repository: "https://host/x.git" }))).toEqual([]);
  });

  it.each(["git", "no git"])("holds no task file, where solutions are, and other YAML as it was: %s", async (kind) => {
    const origin = await emptyFolder();
    const files = { "tasks/one.yaml": TASK_FILE, "tasks/other.yaml": "a: 1\n", "a.txt": "a\n" };
    if (kind === "git") await commit(origin, files);
    else await writeFiles(origin, files);
    const { folder, past } = await made(taskOn(origin));
    expect(await readdir(path.join(folder, "tasks"))).toEqual(["other.yaml"]);
    expect(past).not.toContain("the answer");
  });

  it.each([
    [{ repository: "../nowhere" }, UsageError, "is no folder and no URL of git"],
    [{ repository: "..", commit: "1234567" }, UsageError, "commit is for git repositories"],
    [{ repository: "../git", commit: "1234567" }, CommandError, "git checkout: "],
    [{ repository: "file:///nowhere/at/all" }, CommandError, "git clone: "],
    [{ repository: "ext::sh -c touch% x" }, UsageError, "is no folder and no URL of git"],
  ])("is refused by a sentence: %j", async (task, Class, sentence) => {
    const origin = await emptyFolder();
    await commit(path.join(origin, "git"), { "a.txt": "a\n" });
    const making = makeWorkspace(taskOn(origin, task), path.join(await emptyFolder(), "workspace"));
    await expect(making).rejects.toBeInstanceOf(Class);
    await expect(making).rejects.toThrow(sentence);
  });
});

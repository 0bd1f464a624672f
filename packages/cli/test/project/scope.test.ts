import { createHash } from "node:crypto";
import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import Libsql from "libsql";
import { beforeEach, expect, it, onTestFinished, vi } from "vitest";
import { repositoryAt } from "../../src/files/repository.js";
import { walk } from "../../src/files/walk.js";
import { isPlace, projectNameAt, scopeOf } from "../../src/project/scope.js";

let root = "";

beforeEach(async () => {
  root = await realpath(await mkdtemp(path.join(tmpdir(), "imprint-scope-")));
  vi.stubEnv("HOME", root);
  for (const name of ["CLAUDE_CONFIG_DIR", "CODEX_HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME"]) vi.stubEnv(name, "");
  onTestFinished(async () => {
    vi.unstubAllEnvs();
    await rm(root, { recursive: true });
  });
});

const put = async (name: string, text: string): Promise<string> => {
  const file = path.join(root, name);
  await mkdir(path.dirname(file), { recursive: true });
  await writeFile(file, text);
  return file;
};

/** A repository as git leaves it, with a remote or without. */
const clone = async (name: string, remote?: string): Promise<string> => {
  await put(`${name}/.git/HEAD`, "ref: refs/heads/main\n");
  await put(
    `${name}/.git/config`,
    remote === undefined ? "[core]\n\tbare = false\n" : `[core]\n\tbare = false\n[remote "origin"]\n\turl = ${remote}\n`,
  );
  return path.join(root, name);
};

const claude = (cwd: string): string =>
  ["user", "assistant"]
    .map((type, n) =>
      JSON.stringify({
        type,
        uuid: `u${n}`,
        parentUuid: n ? "u0" : null,
        sessionId: "s",
        cwd,
        message: { role: type, content: `${n}` },
      }),
    )
    .join("\n");

const codex = (cwd: string, url?: string): string =>
  [
    { type: "session_meta", payload: { id: "s", cwd, git: url && { repository_url: url } } },
    ...["user", "assistant"].map((role) => ({
      type: "response_item",
      payload: { type: "message", role, content: [{ text: "x" }] },
    })),
  ]
    .map((line) => JSON.stringify(line))
    .join("\n");

/** The recordings of a project's, among those of all agents, without the folder of this test. */
const found = async (given: string, folders?: readonly string[]): Promise<readonly string[]> => {
  const scope = await scopeOf(given);
  const { candidates } = await walk(folders ?? (await scope.places(process.env)));
  return (await scope.filter(candidates)).map((one) => path.relative(root, one.path)).sort();
};

it("finds the recordings of every agent in a repository, and no others", async () => {
  const shop = await clone("shop");
  const other = await clone("other");
  await mkdir(path.join(shop, "src"));
  await clone("shop/vendor/lib");
  await put(".claude/projects/a/1.jsonl", claude(shop));
  await put(".claude/projects/b/2.jsonl", claude(path.join(shop, "src")));
  await put(".claude/projects/c/3.jsonl", claude(other));
  await put(".claude/projects/d/4.jsonl", claude(path.join(shop, "vendor", "lib")));
  await put(".codex/sessions/2026/01/01/rollout-1.jsonl", codex(shop));
  await put(".codex/sessions/2026/01/01/rollout-2.jsonl", codex(`${shop}-next`));
  await put(".codex/archived_sessions/rollout-3.jsonl", codex(path.join(shop, "gone")));
  const gemini = JSON.stringify({ sessionId: "g", projectHash: "h", messages: [] });
  await put(`.gemini/tmp/${createHash("sha256").update(shop).digest("hex")}/chats/session-1.json`, gemini);
  await put(`.gemini/tmp/${createHash("sha256").update(other).digest("hex")}/chats/session-2.json`, gemini);
  await put(".gemini/tmp/shop-1/.project_root", shop);
  await put(".gemini/tmp/shop-1/chats/session-3.json", gemini);
  for (const [name, folder] of [
    ["w1", shop],
    ["w2", other],
  ] as const) {
    const user = process.platform === "darwin" ? "Library/Application Support/Code/User" : ".config/Code/User";
    await put(`${user}/workspaceStorage/${name}/workspace.json`, JSON.stringify({ folder: `file://${folder}` }));
    await put(`${user}/workspaceStorage/${name}/chatSessions/c.json`, "{}");
  }
  await put("shop/.aider.chat.history.md", "# aider chat started at 2026-01-01 00:00:00\n");
  await put(
    ".continue/sessions/x.json",
    JSON.stringify({
      sessionId: "x",
      workspaceDirectory: `file://${shop}`,
      history: [{ message: { role: "user", content: "x" } }],
    }),
  );

  const goose = new Libsql(await put(".local/share/goose/sessions/sessions.db", ""));
  goose.exec(`create table sessions (id text, working_dir text, created_at text, updated_at text);
    create table messages (id integer primary key, session_id text, role text, content_json text, created_timestamp integer);`);
  for (const [id, folder] of [
    ["g1", shop],
    ["g2", other],
  ] as const) {
    goose.prepare("insert into sessions values (?, ?, '', '')").run([id, folder]);
    for (const role of ["user", "assistant"])
      goose
        .prepare("insert into messages (session_id, role, content_json, created_timestamp) values (?, ?, ?, 1)")
        .run([id, role, '[{"type":"text","text":"x"}]']);
  }
  goose.close();

  const own = await found(path.join(shop, "src"));
  expect(own.filter((file) => !file.includes("workspaceStorage"))).toEqual([
    ".claude/projects/a/1.jsonl",
    ".claude/projects/b/2.jsonl",
    ".codex/archived_sessions/rollout-3.jsonl",
    ".codex/sessions/2026/01/01/rollout-1.jsonl",
    ".continue/sessions/x.json",
    `.gemini/tmp/${createHash("sha256").update(shop).digest("hex")}/chats/session-1.json`,
    ".gemini/tmp/shop-1/chats/session-3.json",
    ".local/share/goose/sessions/sessions.db#g1",
    "shop/.aider.chat.history.md",
  ]);
  expect(own.filter((file) => file.includes("workspaceStorage"))).toEqual([expect.stringMatching(/w1.chatSessions.c\.json$/)]);
});

it("says of Gemini's and VS Code's recordings in which folder they were made", async () => {
  const [shop, other, mine] = [await clone("shop"), await clone("other"), await clone("mine")];
  const hash = (folder: string): string => createHash("sha256").update(folder).digest("hex");
  await put(".gemini/projects.json", JSON.stringify({ projects: { [shop]: "shop-slug", [other]: "x" } }));
  await put(".gemini/trustedFolders.json", JSON.stringify({ [mine]: "TRUST_FOLDER" }));
  await put("ws/workspace.json", JSON.stringify({ folder: `file://${shop}` }));
  for (const name of ["shop-slug", hash(other), hash(mine), hash(path.join(root, "gone"))])
    await put(`.gemini/tmp/${name}/chats/session-1.json`, "{}");
  await put("ws/chatSessions/c.json", "{}");
  const { candidates } = await walk([path.join(root, ".gemini", "tmp"), path.join(root, "ws", "chatSessions")]);
  const folders = new Map(candidates.map((one) => [path.relative(root, one.path), one.folder]));
  expect(Object.fromEntries(folders)).toEqual({
    ".gemini/tmp/shop-slug/chats/session-1.json": shop,
    [`.gemini/tmp/${hash(other)}/chats/session-1.json`]: other,
    [`.gemini/tmp/${hash(mine)}/chats/session-1.json`]: mine,
    [`.gemini/tmp/${hash(path.join(root, "gone"))}/chats/session-1.json`]: undefined,
    "ws/chatSessions/c.json": shop,
  });
  const scope = await scopeOf(path.join(root, "shop"));
  expect((await scope.filter(candidates)).map(({ folder }) => folder)).toEqual([shop, shop]);
});

it("finds those of a repository by its name, wherever it was checked out", async () => {
  await put(".codex/sessions/1.jsonl", codex("/tmp/checkout-1", "https://git.example.com/a/billing-api.git"));
  await put(".codex/sessions/2.jsonl", codex("/srv/billing-api"));
  await put(".codex/sessions/3.jsonl", codex("/srv/billing-apis"));
  const both = [".codex/sessions/1.jsonl", ".codex/sessions/2.jsonl"];
  expect(await found("billing-api")).toEqual(both);
  expect(await found("billing-api", [path.join(root, ".codex")])).toEqual(both);
});

it("takes worktrees of one repository together, and reads what is called through a link", async () => {
  const shop = await clone("shop", "git@git.example.com:me/billing-api.git");
  await put("shop/.git/worktrees/fix/commondir", "../..\n");
  await put("shop/.git/worktrees/fix/gitdir", `${root}/fix/.git\n`);
  await put("fix/.git", `gitdir: ${shop}/.git/worktrees/fix\n`);
  await symlink(shop, path.join(root, "link"));
  for (const at of [shop, path.join(root, "fix"), path.join(root, "link")]) {
    const { name, root: top, holds } = await repositoryAt(at);
    expect([name, top]).toEqual(["billing-api", shop]);
    expect(await Promise.all(["shop", "fix", "link", "other"].map((one) => holds(path.join(root, one))))).toEqual([
      true,
      true,
      true,
      false,
    ]);
  }
});

it("takes a folder without a repository alone, without the repositories in it", async () => {
  await mkdir(path.join(root, "notes", "a"), { recursive: true });
  await clone("notes/shop");
  const { name, holds } = await repositoryAt(path.join(root, "notes"));
  expect(name).toBe("notes");
  expect(await holds(path.join(root, "notes", "a"))).toBe(true);
  expect(await holds(path.join(root, "notes", "shop"))).toBe(false);
  await expect(repositoryAt(path.join(root, "none"))).rejects.toThrow("there is no such folder");
});

it("asks a recording again once it was written to, until it says its folder", async () => {
  const shop = await clone("shop");
  const scope = await scopeOf(shop);
  const file = await put(".codex/sessions/1.jsonl", `${JSON.stringify({ type: "session_meta" })}\n`);
  const now = async () => (await scope.filter((await walk([path.dirname(file)])).candidates)).length;
  expect(await now()).toBe(0);
  await writeFile(file, codex(shop));
  expect(await now()).toBe(1);
});

it("calls a project as its repository, as far as a project's name may be", async () => {
  await clone("Billing API", "https://git.example.com/me/Billing.API");
  expect(await projectNameAt(path.join(root, "Billing API"))).toBe("billing.api");
  await mkdir(path.join(root, "-My Notes!"));
  expect(await projectNameAt(path.join(root, "-My Notes!"))).toBe("my-notes-");
});

it.each([
  [".", true],
  ["..", true],
  ["./shop", true],
  ["/srv/shop", true],
  ["C:\\shop", true],
  ["shop", false],
  ["shop.v2", false],
])("takes %s for a folder: %s", (text, is) => {
  expect(isPlace(text)).toBe(is);
});
